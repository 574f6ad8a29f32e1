// The object in WebGL2. Positions and normals live in textures, which surface, edges and particles all read:
// each needs only the numbers of its particles.

import { SOLID, Solids } from "./solids.js";

const FETCH = `#version 300 es
precision highp float;
uniform highp sampler2D places; // position, and the number to colour by
uniform highp sampler2D normals;
uniform mat4 camera;
uniform float top;
vec4 at(highp sampler2D t, uint p) { return texelFetch(t, ivec2(int(p) & 1023, int(p) >> 10), 0); }
vec3 tint(float value) {
  vec3 stops[5] = vec3[5](vec3(.231,.357,.573), vec3(.373,.659,.651), vec3(.918,.851,.690), vec3(.878,.541,.235), vec3(.643,.149,.173));
  float x = clamp(value / top, 0., 1.) * 4.;
  int k = min(int(x), 3);
  return mix(stops[k], stops[k + 1], x - float(k));
}
`;
const SURFACE = [FETCH + `
in uint particle;
out vec3 normal; out vec3 place; out vec3 color;
void main() {
  vec4 p = at(places, particle);
  normal = at(normals, particle).xyz; place = p.xyz; color = tint(p.w);
  gl_Position = camera * vec4(p.xyz, 1.);
}`, `#version 300 es
precision highp float;
in vec3 normal; in vec3 place; in vec3 color;
uniform vec3 eye;
uniform bool smooth_look;
out vec4 pixel;
void main() {
  // Half the facet's own normal, half a smooth one: corners stay corners, and nothing seen faces away.
  vec3 look = normalize(eye - place), flat_ = normalize(cross(dFdx(place), dFdy(place))), smooth_ = normalize(normal);
  if (dot(flat_, look) < 0.) flat_ = -flat_;
  if (dot(flat_, smooth_) < 0.) smooth_ = -smooth_;
  // Or, where it is to look smooth, the smooth one alone but at sharp sides of the object.
  vec3 n = normalize(smooth_look ? mix(flat_, smooth_, smoothstep(.55, .9, dot(flat_, smooth_))) : flat_ + .8 * smooth_);
  vec3 light = normalize(look + vec3(.3, -.2, 1.2));
  float sky = .5 + .5 * n.z;
  float shine = pow(max(dot(n, normalize(light + look)), 0.), 32.);
  vec3 c = color * (mix(vec3(.56,.52,.50), vec3(.66,.67,.70), sky) + .48 * max(dot(n, light), 0.));
  pixel = vec4(c + .12 * shine, 1.);
}`];
// A line is a strip of two triangles, as wide as told.
const LINES = [FETCH + `
in uvec2 ends;
uniform vec2 pixels; uniform float width; uniform vec4 ink; uniform bool tinted;
out vec4 color;
void main() {
  vec4 a = at(places, ends.x), b = at(places, ends.y);
  vec4 ca = camera * vec4(a.xyz, 1.), cb = camera * vec4(b.xyz, 1.);
  vec2 along = (cb.xy / cb.w - ca.xy / ca.w) * pixels;
  vec2 aside = length(along) > 0. ? normalize(vec2(-along.y, along.x)) : vec2(0.);
  bool far = gl_VertexID > 1;
  vec4 c = far ? cb : ca;
  c.xy += aside * (gl_VertexID % 2 == 0 ? -width : width) / pixels * c.w;
  c.z -= 2e-4 * c.w;
  color = tinted ? vec4(tint(far ? b.w : a.w), ink.a) : ink;
  gl_Position = c;
}`, `#version 300 es
precision highp float;
in vec4 color; out vec4 pixel;
void main() { pixel = color; }`];
const POINTS = [FETCH + `
in uint particle;
uniform float width; uniform bool pinned;
out vec3 color;
void main() {
  vec4 p = at(places, particle);
  color = pinned ? vec3(.13, .12, .14) : tint(p.w);
  gl_Position = camera * vec4(p.xyz, 1.);
  gl_Position.z -= 4e-4 * gl_Position.w;
  gl_PointSize = width;
}`, `#version 300 es
precision highp float;
uniform bool pinned;
in vec3 color; out vec4 pixel;
void main() {
  vec2 q = 2. * gl_PointCoord - 1.;
  if (pinned) {
    // What is held is a diamond.
    float d = abs(q.x) + abs(q.y);
    if (d > 1.) discard;
    pixel = vec4(d > .6 ? vec3(1.) : color, 1.);
    return;
  }
  float r = dot(q, q);
  if (r > 1.) discard;
  float lit = .75 + .35 * (sqrt(1. - r) - .4 * q.y - .4);
  pixel = vec4(r > .72 ? color * .45 : color * lit, 1.);
}`];
const WIDTH = 1024; // of the textures

export class Picture {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: false });
    if (!gl) throw new Error("this browser has no WebGL2");
    this.canvas = canvas;
    this.gl = gl;
    this.drawn = []; // names of what is to be seen
    [this.surface, this.lines, this.points] = [SURFACE, LINES, POINTS].map(code => this.program(...code));
    this.solids = new Solids(gl, this.program(...SOLID));
    this.textures = [0, 1].map(unit => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
      for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, key, gl.NEAREST);
    });
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, code] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, code);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "particle");
    gl.bindAttribLocation(program, 0, "ends");
    gl.bindAttribLocation(program, 0, "corner");
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const uniforms = new Map();
    return { program, at: name => uniforms.get(name) ?? uniforms.set(name, gl.getUniformLocation(program, name)).get(name) };
  }

  // Numbers of particles in groups of `size`, per vertex or per line.
  indices(data, size, divisor) {
    const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, size, gl.UNSIGNED_INT, 0, 0);
    gl.vertexAttribDivisor(0, divisor);
    return { array, buffer, count: data.length / size };
  }

  // Another scene: positions at rest, edges, triangles, boundaries, and lines of a floor where there is none.
  load(scene) {
    const gl = this.gl;
    for (const old of [this.faces, this.outline, this.bonds, this.floor, this.all, this.held]) {
      if (old) { gl.deleteVertexArray(old.array); gl.deleteBuffer(old.buffer); }
    }
    this.count = scene.particles;
    this.triangles = scene.triangles;
    this.solids.load(scene.solids);
    this.grid = scene.solids.some(solid => solid.plane) ? new Float32Array() : floor(scene);
    const rows = Math.ceil((this.count + this.grid.length / 3) / WIDTH);
    this.places = new Float32Array(4 * WIDTH * rows);
    this.normals = new Float32Array(4 * WIDTH * rows);
    for (let k = 0; k < this.grid.length / 3; k++) this.places.set(this.grid.subarray(3 * k, 3 * k + 3), 4 * (this.count + k));
    this.rows = rows;
    this.faces = this.indices(scene.triangles, 1, 0);
    this.outline = this.indices(sides(scene.triangles), 2, 1);
    this.bonds = this.indices(scene.edges, 2, 1);
    this.floor = this.indices(Uint32Array.from({ length: this.grid.length / 3 }, (_, k) => this.count + k), 2, 1);
    this.all = this.indices(Uint32Array.from({ length: this.count }, (_, k) => k), 1, 0);
    this.held = this.indices(Uint32Array.from(scene.held), 1, 0);
    this.set(scene.rest, new Float32Array(this.count), []);
  }

  // Another state.
  set(positions, colors, poses) {
    this.solids.poses = poses;
    const { gl, places, normals, triangles } = this;
    for (let p = 0; p < this.count; p++) {
      places[4 * p] = positions[3 * p];
      places[4 * p + 1] = positions[3 * p + 1];
      places[4 * p + 2] = positions[3 * p + 2];
      places[4 * p + 3] = colors[p];
    }
    normals.fill(0);
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 4 * triangles[t], b = 4 * triangles[t + 1], c = 4 * triangles[t + 2];
      const ux = places[b] - places[a], uy = places[b + 1] - places[a + 1], uz = places[b + 2] - places[a + 2];
      const vx = places[c] - places[a], vy = places[c + 1] - places[a + 1], vz = places[c + 2] - places[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      for (const k of [a, b, c]) { normals[k] += x; normals[k + 1] += y; normals[k + 2] += z; }
    }
    for (const [unit, data] of [places, normals].entries()) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, WIDTH, this.rows, 0, gl.RGBA, gl.FLOAT, data);
    }
  }

  // The first so many of what is held are, at this time.
  draw(camera, show, top, held) {
    const { gl, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!this.count) return;
    const matrix = camera.matrix(), dense = canvas.width / canvas.clientWidth;
    const use = ({ program, at }) => {
      gl.useProgram(program);
      gl.uniform1i(at("places"), 0);
      gl.uniform1i(at("normals"), 1);
      gl.uniformMatrix4fv(at("camera"), false, matrix);
      gl.uniform1f(at("top"), top);
      return at;
    };
    const at = use(this.lines);
    const lines = (what, width, ink, tinted) => {
      gl.bindVertexArray(what.array);
      gl.uniform2f(at("pixels"), canvas.width, canvas.height);
      gl.uniform1f(at("width"), width * dense);
      gl.uniform4fv(at("ink"), ink);
      gl.uniform1i(at("tinted"), tinted);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, what.count);
    };
    gl.depthMask(false);
    lines(this.floor, 0.6, [0.55, 0.45, 0.35, 0.28], false);
    gl.depthMask(true);
    this.drawn = [];
    const solids = planes => { if (show.around) this.drawn.push(...this.solids.draw(planes, matrix, camera.axes().eye)); };
    solids(true);
    const surface = show.surface && this.faces.count > 0;
    if (surface) {
      this.drawn.push("surface");
      const at = use(this.surface);
      gl.uniform3fv(at("eye"), camera.axes().eye);
      gl.uniform1i(at("smooth_look"), show.smooth);
      gl.bindVertexArray(this.faces.array);
      gl.drawArrays(gl.TRIANGLES, 0, this.faces.count);
    }
    if (show.edges) {
      use(this.lines);
      this.drawn.push("edges");
      if (surface) lines(this.outline, 0.7, [0.2, 0.12, 0.06, 0.38], false);
      else lines(this.bonds, this.bonds.count < 100 ? 2.5 : 0.9, [0, 0, 0, 1], true);
    }
    const points = (what, name, width, count = what.count) => {
      const at = use(this.points);
      this.drawn.push(name);
      gl.uniform1i(at("pinned"), name === "pins");
      gl.uniform1f(at("width"), dense * width);
      gl.bindVertexArray(what.array);
      gl.drawArrays(gl.POINTS, 0, count);
    };
    if (show.particles || !surface && !show.edges) points(this.all, "particles", this.count < 100 ? 14 : 8);
    if (show.around && held > 0) points(this.held, "pins", this.count < 100 ? 16 : this.count < 5000 ? 10 : 6, held);
    // Last: one looks through them.
    solids(false);
  }
}

// The sides of triangles, each once.
function sides(triangles) {
  const seen = new Set(), found = [];
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = triangles[t + k], b = triangles[t + (k + 1) % 3];
      const key = Math.min(a, b) * 2 ** 26 + Math.max(a, b);
      if (!seen.has(key)) { seen.add(key); found.push(a, b); }
    }
  }
  return Uint32Array.from(found);
}

// A grid under the object: pairs of points.
function floor({ low, high }) {
  const size = Math.max(...high.map((h, k) => h - low[k])), cells = 12, reach = size, z = low[2] - 0.02 * size;
  const [cx, cy] = [0, 1].map(k => (low[k] + high[k]) / 2), found = [];
  for (let k = 0; k <= cells; k++) {
    const s = reach * (2 * k / cells - 1);
    found.push(cx + s, cy - reach, z, cx + s, cy + reach, z, cx - reach, cy + s, z, cx + reach, cy + s, z);
  }
  return Float32Array.from(found);
}
