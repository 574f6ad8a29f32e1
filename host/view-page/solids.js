// Boundaries in WebGL2: rigid surfaces, each with a pose.

// A boundary: a rigid surface with a pose.
export const SOLID = [`#version 300 es
precision highp float;
in vec3 corner;
uniform mat4 camera;
uniform vec4 turn; uniform vec3 shift;
out vec3 place;
void main() {
  place = corner + 2. * cross(turn.xyz, cross(turn.xyz, corner) + turn.w * corner) + shift;
  gl_Position = camera * vec4(place, 1.);
}`, `#version 300 es
precision highp float;
in vec3 place;
uniform vec3 eye; uniform vec4 ink; uniform bool lit;
out vec4 pixel;
void main() {
  vec3 look = normalize(eye - place), n = normalize(cross(dFdx(place), dFdy(place)));
  if (dot(n, look) < 0.) n = -n;
  float light = lit ? .72 + .3 * max(dot(n, normalize(look + vec3(.3, -.2, 1.2))), 0.) : 1.;
  pixel = vec4(ink.rgb * light, ink.a);
}`];
const CELLS = 12; // of a plane's grid, from side to side

export class Solids {
  solids = [];
  poses = []; // a turn and a shift each

  constructor(gl, program) {
    Object.assign(this, { gl, program });
  }

  // Those of another scene.
  load(solids) {
    const { gl } = this;
    for (const { array, buffer, faces, sides } of this.solids) {
      gl.deleteVertexArray(array);
      for (const old of [buffer, faces, sides]) gl.deleteBuffer(old);
    }
    this.solids = solids.map(solid => this.store(solid));
    this.poses = [];
  }

  // A boundary's surface and lines.
  store(solid) {
    const gl = this.gl, array = gl.createVertexArray(), [buffer, faces, sides] = [0, 1, 2].map(() => gl.createBuffer());
    const { corners, lines } = solid.plane ? squared(solid) : solid;
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    for (const [target, data] of [[faces, solid.triangles], [sides, lines]]) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, target);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, data, gl.STATIC_DRAW);
    }
    return { name: solid.name, plane: solid.plane, array, buffer, faces, sides, counts: [solid.triangles.length, lines.length] };
  }

  // Planes, or all others; tells their names.
  draw(planes, matrix, eye) {
    const { gl, program: { program, at } } = this, drawn = [];
    gl.useProgram(program);
    gl.uniformMatrix4fv(at("camera"), false, matrix);
    gl.uniform3fv(at("eye"), eye);
    gl.enable(gl.CULL_FACE);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
    for (const [k, solid] of this.solids.entries()) {
      const pose = this.poses[k];
      if (solid.plane !== planes || !pose?.every(Number.isFinite)) continue;
      drawn.push(solid.name);
      gl.uniform4fv(at("turn"), pose.slice(0, 4));
      gl.uniform3fv(at("shift"), pose.slice(4));
      gl.bindVertexArray(solid.array);
      const elements = (buffer, mode, count, ink, lit) => {
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
        gl.uniform4fv(at("ink"), ink);
        gl.uniform1i(at("lit"), lit);
        gl.drawElements(mode, count, gl.UNSIGNED_INT, 0);
      };
      elements(solid.faces, gl.TRIANGLES, solid.counts[0], solid.plane ? [0.86, 0.83, 0.78, 1] : [0.42, 0.48, 0.56, 0.62], true);
      elements(solid.sides, gl.LINES, solid.counts[1], solid.plane ? [0.6, 0.54, 0.46, 0.5] : [0.16, 0.2, 0.27, 0.6], false);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.disable(gl.CULL_FACE);
    return drawn;
  }
}

// Corners of a boundary at a pose.
export function placed(corners, [x, y, z, w, ...shift]) {
  const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d], axis = [x, y, z], found = [];
  for (let k = 0; k < corners.length; k += 3) {
    const p = [...corners.subarray(k, k + 3)], inner = cross(axis, p).map((v, i) => v + w * p[i]);
    found.push(cross(axis, inner).map((v, i) => p[i] + 2 * v + shift[i]));
  }
  return found;
}

// A plane with a grid: its four corners, and where lines across it end.
function squared({ corners, lines }) {
  const at = k => [...corners.subarray(3 * k, 3 * k + 3)], [a, b, c, d] = [0, 1, 2, 3].map(at);
  const between = (p, q, share) => p.map((v, k) => v + share * (q[k] - v)), more = [...corners], all = [...lines];
  for (let k = 1; k < CELLS; k++) {
    for (const [[p, q], [r, s]] of [[[a, b], [d, c]], [[a, d], [b, c]]]) {
      all.push(more.length / 3, more.length / 3 + 1);
      more.push(...between(p, q, k / CELLS), ...between(r, s, k / CELLS));
    }
  }
  return { corners: Float32Array.from(more), lines: Uint32Array.from(all) };
}
