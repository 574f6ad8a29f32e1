// The page: what arrives is drawn, what the hand does is sent.

import { bulk, Camera, project } from "./camera.js";
import { Hand } from "./hand.js";
import { feltByHand, Overlay } from "./overlay.js";
import { Picture } from "./picture.js";
import { Plot, short } from "./plot.js";
import { placed } from "./solids.js";

const $ = id => document.getElementById(id);
const UNITS = { speed: " m/s", stress: " N", error: " %" };
const MOST = 12; // forces that are listed
const SHOWN = ["surface", "smooth", "edges", "particles", "around"]; // what there is to choose

const camera = new Camera();
const overlay = new Overlay($("overlay"));
const way = new Plot($("way"), " m", "#c4501b"), rate = new Plot($("rate"), "/s", "#2f5d9b");
let picture, socket, scene, state;
let hand, chosen = null, top = 0, moved = [0, 0, 0];
let stale = true; // nothing is drawn twice
let unfitted = false; // a new scene has not been seen as a whole

const say = text => { $("notice").textContent = text ?? ""; $("notice").hidden = !text; };
const tell = message => { if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); };

function connect() {
  // Beside the page, so that its address has the token, too.
  socket = new WebSocket(new URL("ws", location).href.replace(/^http/, "ws"));
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
  const solids = header.solids.map(s => ({
    ...s, corners: array(Float32Array, 3 * s.corners), triangles: array(Uint32Array, 3 * s.triangles), lines: array(Uint32Array, 2 * s.lines),
  }));
  const { low, high } = bulk(rest);
  const known = scene?.name === header.name && scene.particles === header.particles;
  scene = { ...header, rest, edges, triangles, solids, low, high, size: Math.max(...high.map((h, k) => h - low[k])) };
  picture.load(scene);
  top = 0;
  way.clear();
  rate.clear();
  hand.drop();
  if (!known) {
    chosen = header.particles - 1;
    $("particles").checked = $("edges").checked = !header.triangles;
    unfitted = true;
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

// Looks at the bulk of the object, and at as much of what stands around it as is near.
function fit() {
  if (!state) return;
  const { low, high } = bulk(state.positions), size = Math.max(...high.map((h, k) => h - low[k]), 1e-9);
  if (!low.every(Number.isFinite)) return;
  unfitted = false;
  const [from, to] = [low.map(l => l - 0.6 * size), high.map(h => h + 0.6 * size)];
  const all = scene.solids.flatMap((solid, k) => (solid.plane ? [] : placed(solid.corners, state.poses[k])));
  for (const place of all) {
    for (let k = 0; k < 3; k++) {
      const near = Math.max(from[k], Math.min(to[k], place[k]));
      [low[k], high[k]] = [Math.min(low[k], near), Math.max(high[k], near)];
    }
  }
  camera.fit(low, high);
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
  picture.set(positions, colors, header.poses);
  if (unfitted) fit();
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
  const touch = feltByHand(header);
  $("touch").textContent = touch ? newtons(touch) : "–";
  const others = header.touch ? header.forces.filter(([, force]) => force !== touch) : header.forces;
  $("forces").replaceChildren(...others.slice(0, MOST).flatMap(([name, force]) => [item("dt", name), item("dd", newtons(force))]));
  warn(header.warnings);
  $("error").textContent = header.mean_error === null ? "–" : `${short(header.mean_error)} %`;
  $("chosen").textContent = `way of particle ${chosen}`;
  say(header.busy ?? header.trouble);
  if ($("follow").checked) follow();
}

const item = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
const newtons = force => `${short(Math.hypot(...force.map(f => f ?? NaN)))} N`;

// What is wrong with the state: in short, the rest on demand.
function warn(warnings) {
  const text = warnings.join("\n");
  if ($("warnings").title === text) return;
  $("warnings").title = text;
  $("warnings").hidden = !text;
  $("warnings").replaceChildren(...warnings.map(warning => item("p", `⚠ ${warning}`)));
}

// Keeps the middle of the object where it was on the screen, whatever has flown away from it.
function follow() {
  const { inside } = bulk(state.positions), sum = [0, 0, 0];
  let count = 0;
  for (let k = 0; k < state.positions.length; k += 3) {
    if (!inside(k / 3)) continue;
    count++;
    for (let axis = 0; axis < 3; axis++) sum[axis] += state.positions[k + axis] - scene.rest[k + axis];
  }
  const now = sum.map(s => s / count);
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
  if (state) hand.act();
  if (stale && scene && state) {
    stale = false;
    const shown = Object.fromEntries(SHOWN.map(id => [id, $(id).checked]));
    const freed = scene.held_until.findIndex(until => until !== null && state.step >= until);
    picture.draw(camera, shown, top, freed < 0 ? scene.held.length : freed);
    overlay.draw(camera, scene, state, hand.particle ?? hand.near, chosen);
    way.draw();
    rate.draw();
  }
  requestAnimationFrame(draw);
}

function listen() {
  for (const kind of ["pointerdown", "pointermove", "pointerup", "wheel", "click", "change", "keydown", "resize"]) {
    addEventListener(kind, () => { stale = true; });
  }
  hand = new Hand($("overlay"), camera, tell, () => ({ scene, state }), particle => { chosen = particle; way.clear(); });
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
  // On narrow screens the panel is folded up, on wide ones always there.
  $("more").onclick = () => $("more").setAttribute("aria-expanded", document.body.classList.toggle("open"));
  for (const button of document.querySelectorAll("#finger button")) {
    button.onclick = () => {
      hand.finger = button.value;
      for (const other of document.querySelectorAll("#finger button")) other.setAttribute("aria-pressed", other === button);
    };
  }
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
window.nendo = {
  get scene() { return scene; }, get state() { return state; }, get drawn() { return picture.drawn; },
  camera, project,
};
