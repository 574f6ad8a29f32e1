// The page: what arrives is drawn, what the hand does is sent.

import { Camera, project } from "./camera.js";
import { HAND, Overlay } from "./overlay.js";
import { Picture } from "./picture.js";
import { Plot, short } from "./plot.js";

const $ = id => document.getElementById(id);
const UNITS = { speed: " m/s", stress: " N", error: " %" };
const REACH = 16; // pixels from a particle to the hand
const SEND = 33; // ms between two pulls
const BALL = 0.12; // radius of the ball that touches, of the object's size

const camera = new Camera();
const overlay = new Overlay($("overlay"));
const way = new Plot($("way"), " m", "#c4501b"), rate = new Plot($("rate"), "/s", "#2f5d9b");
let picture, socket, scene, state;
let near = null, chosen = null, hand = null, top = 0, moved = [0, 0, 0];
let stale = true; // nothing is drawn twice

const say = text => { $("notice").textContent = text ?? ""; $("notice").hidden = !text; };
const tell = message => { if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); };

function connect() {
  socket = new WebSocket(`ws://${location.host}/ws${location.search}`);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => {
    const length = new DataView(data).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    header.kind === "scene" ? load(header, data, 4 + length) : show(header, data, 4 + length);
  };
  socket.onclose = ({ reason }) => {
    say(reason ? `disconnected: ${reason}` : "nendo has ended, or all its places are taken; trying again");
    setTimeout(connect, 2000);
  };
}

// Another scene or engine.
function load(header, data, at) {
  const array = (Kind, count) => { const a = new Kind(data, at, count); at += 4 * count; return a; };
  const rest = array(Float32Array, 3 * header.particles);
  const edges = array(Uint32Array, 2 * header.edges), triangles = array(Uint32Array, 3 * header.triangles);
  const [low, high] = bounds(rest);
  const known = scene?.name === header.name && scene.particles === header.particles;
  scene = { ...header, rest, edges, triangles, low, high, size: Math.max(...high.map((h, k) => h - low[k])) };
  picture.load(scene);
  top = 0;
  way.clear();
  rate.clear();
  near = hand = null;
  if (!known) {
    chosen = header.particles - 1;
    $("particles").checked = !header.triangles;
    camera.fit(low, high);
    moved = [0, 0, 0];
  }
  fill("scene", header.scenes.map((name, k) => [k, name]), header.scene);
  fill("engine", header.engines.map(e => [e, e === header.choice && e !== header.engine ? `${e} (${header.engine})` : e]), header.choice);
  $("engine").title = header.engine_why;
  fill("profile", header.profiles.map(p => [p, p]), header.profile);
  $("profile").disabled = !header.fixed_point;
  $("title").textContent = `${header.particles.toLocaleString("en")} particles, ${header.edges.toLocaleString("en")} edges`;
}

function fill(id, options, value) {
  $(id).replaceChildren(...options.map(([v, name]) => new Option(name, v)));
  $(id).value = value;
}

function bounds(points) {
  const low = [Infinity, Infinity, Infinity], high = low.map(v => -v);
  points.forEach((v, k) => { low[k % 3] = Math.min(low[k % 3], v); high[k % 3] = Math.max(high[k % 3], v); });
  return [low, high];
}

// What nearly all values stay below: a single one must not make all others look alike.
function large(values) {
  const some = values.filter((_, k) => k % Math.ceil(values.length / 4000) === 0).sort();
  return some[Math.floor(0.98 * some.length)] ?? 0;
}

// Another state.
function show(header, data, at) {
  if (!scene) return;
  const positions = new Float32Array(data, at, 3 * scene.particles);
  const colors = new Float32Array(data, at + 4 * positions.length, scene.particles);
  state = { ...header, positions, colors, frames: (state?.frames ?? 0) + 1 };
  stale = true;
  picture.set(positions, colors);
  // The scale follows slowly downwards, so that colours do not flicker.
  top = Math.max(large(colors), 0.98 * top, 1e-9);
  const d = [0, 1, 2].map(k => positions[3 * chosen + k] - scene.rest[3 * chosen + k]);
  if (!header.busy) {
    way.add(header.time, Math.hypot(...d));
    rate.add(performance.now() / 1000, header.rate);
  }
  $("play").textContent = header.running ? "Pause" : "Play";
  $("speed").value = header.speed ?? "";
  $("color").value = header.color;
  $("high").textContent = "≥ " + short(top) + UNITS[header.color];
  $("time").textContent = `${header.time.toFixed(3)} s`;
  $("steps").textContent = header.step.toLocaleString("en");
  $("pull").textContent = header.pull ? `${short(Math.hypot(...header.pull.force))} N` : "–";
  $("answer").textContent = header.pull ? `${short(Math.hypot(...header.pull.reaction))} N` : "–";
  $("error").textContent = header.mean_error === null ? "–" : `${short(header.mean_error)} %`;
  $("chosen").textContent = `way of particle ${chosen}`;
  say(header.busy ?? header.trouble);
  if ($("follow").checked) follow();
}

// Keeps the middle of the object where it was on the screen.
function follow() {
  const sum = [0, 0, 0];
  state.positions.forEach((v, k) => { sum[k % 3] += v - scene.rest[k]; });
  const now = sum.map(s => s / scene.particles);
  if (!now.every(Number.isFinite)) return;
  camera.target = camera.target.map((t, k) => t + now[k] - moved[k]);
  moved = now;
}

function draw() {
  for (const id of ["picture", "overlay"]) {
    const canvas = $(id), [w, h] = [canvas.clientWidth, canvas.clientHeight].map(v => Math.round(v * devicePixelRatio));
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height, stale] = [w, h, true];
    camera.aspect = w / h;
  }
  if (hand?.particle !== undefined) pull();
  if (hand?.ball) touch();
  if (stale && scene && state) {
    stale = false;
    const shown = Object.fromEntries(["surface", "edges", "particles"].map(id => [id, $(id).checked]));
    picture.draw(camera, shown, top);
    overlay.draw(camera, scene, state, hand?.particle ?? near, chosen);
    way.draw();
    rate.draw();
  }
  requestAnimationFrame(draw);
}

// The foremost particle near a point of the screen.
function find(x, y) {
  const matrix = camera.matrix(), { clientWidth: w, clientHeight: h } = $("overlay");
  let best = null, depth = Infinity;
  for (let p = 0; state && p < scene.particles; p++) {
    const [px, py, pz] = project(matrix, state.positions.subarray(3 * p, 3 * p + 3), w, h);
    if (pz > 0 && pz < depth && Math.hypot(px - x, py - y) < REACH) [best, depth] = [p, pz];
  }
  return best;
}

// The hand is tied to its particle by a spring.
function pull() {
  if (performance.now() - hand.sent < SEND) return;
  const { particle, x, y } = hand, { clientWidth: w, clientHeight: h } = $("overlay");
  const place = [...state.positions.subarray(3 * particle, 3 * particle + 3)];
  const [px, py, depth] = project(camera.matrix(), place, w, h);
  const { right, up } = camera.axes(), scale = camera.perPixel(depth, h) * scene.pull_limit / (HAND * scene.size);
  const force = right.map((r, k) => scale * ((x - px) * r - (y - py) * up[k]));
  if (!force.every(Number.isFinite)) return;
  hand.sent = performance.now();
  tell({ do: "pull", particle, force });
}

// The ball moves along the screen, at the depth at which it was laid on the object.
function touch() {
  if (performance.now() - hand.sent < SEND) return;
  const { x, y, ball } = hand, { clientWidth: w, clientHeight: h } = $("overlay");
  const [px, py, depth] = project(camera.matrix(), ball, w, h), { right, up } = camera.axes();
  const scale = camera.perPixel(depth, h), center = ball.map((c, k) => c + scale * ((x - px) * right[k] - (y - py) * up[k]));
  if (!center.every(Number.isFinite)) return;
  hand.sent = performance.now();
  tell({ do: "touch", center, radius: BALL * scene.size });
}

function listen() {
  const canvas = $("overlay");
  const place = event => { const r = canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
  canvas.oncontextmenu = event => event.preventDefault();
  canvas.onpointerdown = event => {
    const [x, y] = place(event), move = event.button !== 0 || event.shiftKey;
    const particle = move ? null : find(x, y);
    canvas.setPointerCapture(event.pointerId);
    hand = { x, y, move, sent: 0 };
    if (particle !== null && event.ctrlKey) {
      // Just in front of the object.
      const { back } = camera.axes(), away = BALL * scene.size;
      hand.ball = [...state.positions.subarray(3 * particle, 3 * particle + 3)].map((c, k) => c + away * back[k]);
    } else if (particle !== null) {
      chosen = hand.particle = particle;
      way.clear();
      canvas.classList.add("pulling");
    }
  };
  canvas.onpointermove = event => {
    const [x, y] = place(event);
    if (!hand) {
      near = find(x, y);
      canvas.classList.toggle("near", near !== null);
      return;
    }
    if (hand.particle === undefined && !hand.ball) {
      hand.move ? camera.move(x - hand.x, y - hand.y, canvas.clientHeight) : camera.turn(x - hand.x, y - hand.y);
    }
    [hand.x, hand.y] = [x, y];
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    if (hand?.particle !== undefined || hand?.ball) tell({ do: "release" });
    hand = null;
    canvas.classList.remove("pulling");
  };
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    if (hand?.ball) {
      // Into the object, or out of it.
      const { back } = camera.axes(), deeper = -Math.sign(event.deltaY) * 0.2 * BALL * scene.size;
      hand.ball = hand.ball.map((c, k) => c + deeper * back[k]);
      return;
    }
    camera.zoom(Math.exp(event.deltaY * 0.001));
  }, { passive: false });

  for (const kind of ["pointerdown", "pointermove", "pointerup", "wheel", "click", "change", "keydown", "resize"]) {
    addEventListener(kind, () => { stale = true; });
  }
  const fit = () => { if (state) camera.fit(...bounds(state.positions)); };
  const actions = {
    play: () => tell({ do: state?.running ? "pause" : "play" }),
    step: event => tell({ do: "step", steps: event.shiftKey ? 100 : 1 }),
    reset: () => tell({ do: "reset" }),
    fit,
  };
  for (const [id, action] of Object.entries(actions)) $(id).onclick = action;
  const open = () => tell({ do: "open", scene: Number($("scene").value), engine: $("engine").value, profile: $("profile").value });
  for (const id of ["scene", "engine", "profile"]) $(id).onchange = open;
  $("speed").onchange = () => tell({ do: "speed", speed: $("speed").value === "" ? null : Number($("speed").value) });
  $("color").onchange = () => { top = 0; tell({ do: "color", by: $("color").value }); };
  addEventListener("keydown", event => {
    const id = { " ": "play", s: "step", r: "reset", f: "fit" }[event.key.toLowerCase()];
    const typing = event.target.matches("select, input") || event.key === " " && event.target.matches("button");
    if (!id || typing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    actions[id](event);
  });
}

try {
  picture = new Picture($("picture"));
  listen();
  connect();
  draw();
} catch (error) {
  say(String(error.message ?? error));
  throw error;
}

// For tests, and for the curious at the console.
window.nendo = { get scene() { return scene; }, get state() { return state; }, camera, project };
