// What fingers and the mouse do: they turn, move and zoom, pull a particle, or touch the object with a ball.

import { project } from "./camera.js";
import { HAND } from "./overlay.js";

const REACH = { mouse: 16, pen: 20, touch: 36 }; // pixels from a particle to who means it
const SEND = 33; // ms between two messages
const BALL = 0.12; // radius of the ball that touches, of the object's size

export class Hand {
  near = null; // the particle under the mouse
  finger = "turn"; // what one finger does: turn, pull or touch
  busy = null; // what is going on: { kind: turn, move, pinch, pull or touch, x, y, ... }
  pointers = new Map();

  // `look` gives the scene and its state, `chose` is told which particle was taken.
  constructor(canvas, camera, tell, look, chose) {
    Object.assign(this, { canvas, camera, tell, look, chose });
    canvas.oncontextmenu = event => event.preventDefault();
    canvas.onpointerdown = event => this.down(event);
    canvas.onpointermove = event => this.move(event);
    canvas.onpointerup = canvas.onpointercancel = canvas.onlostpointercapture = event => this.up(event);
    canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
  }

  get particle() {
    return this.busy?.kind === "pull" ? this.busy.particle : null;
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // The foremost particle near a point of the screen.
  find(x, y, reach) {
    const { scene, state } = this.look(), { clientWidth: w, clientHeight: h } = this.canvas;
    const matrix = this.camera.matrix();
    let best = null, depth = Infinity;
    for (let p = 0; state && p < scene.particles; p++) {
      const [px, py, pz] = project(matrix, state.positions.subarray(3 * p, 3 * p + 3), w, h);
      if (pz > 0 && pz < depth && Math.hypot(px - x, py - y) < reach) [best, depth] = [p, pz];
    }
    return best;
  }

  down(event) {
    const [x, y] = this.place(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [x, y]);
    if (this.pointers.size > 1) {
      this.release();
      this.busy = { kind: "pinch" };
      return;
    }
    const mouse = event.pointerType === "mouse", aside = event.button !== 0 || event.shiftKey;
    const wanted = aside ? "move" : event.ctrlKey ? "touch" : mouse && this.finger === "turn" ? "pull" : this.finger;
    const particle = ["pull", "touch"].includes(wanted) ? this.find(x, y, REACH[event.pointerType] ?? REACH.mouse) : null;
    this.busy = { kind: wanted === "move" ? "move" : "turn", x, y, sent: 0 };
    if (particle === null) return;
    this.busy.kind = wanted;
    if (wanted === "touch") {
      // Just in front of the object.
      const { scene, state } = this.look(), { back } = this.camera.axes(), away = BALL * scene.size;
      this.busy.ball = [...state.positions.subarray(3 * particle, 3 * particle + 3)].map((c, k) => c + away * back[k]);
    } else {
      this.busy.particle = particle;
      this.chose(particle);
      this.canvas.classList.add("pulling");
    }
  }

  move(event) {
    const [x, y] = this.place(event), { busy, camera, canvas, pointers } = this;
    if (!busy) {
      this.near = event.pointerType === "mouse" ? this.find(x, y, REACH.mouse) : null;
      canvas.classList.toggle("near", this.near !== null);
      return;
    }
    if (!pointers.has(event.pointerId)) return;
    if (busy.kind === "pinch") {
      const before = span(pointers);
      pointers.set(event.pointerId, [x, y]);
      const after = span(pointers);
      camera.move(after.x - before.x, after.y - before.y, canvas.clientHeight);
      if (after.size > 0) camera.zoom(before.size / after.size);
      return;
    }
    if (busy.kind === "turn") camera.turn(x - busy.x, y - busy.y);
    if (busy.kind === "move") camera.move(x - busy.x, y - busy.y, canvas.clientHeight);
    [busy.x, busy.y] = [x, y];
    pointers.set(event.pointerId, [x, y]);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId) || this.pointers.size > 1) return;
    this.release();
    // The finger that stays goes on turning.
    const [rest] = this.pointers.values();
    if (rest) this.busy = { kind: "turn", x: rest[0], y: rest[1], sent: 0 };
  }

  wheel(event) {
    event.preventDefault();
    if (this.busy?.ball) {
      // Into the object, or out of it.
      const { back } = this.camera.axes(), deeper = -Math.sign(event.deltaY) * 0.2 * BALL * this.look().scene.size;
      this.busy.ball = this.busy.ball.map((c, k) => c + deeper * back[k]);
    } else {
      this.camera.zoom(Math.exp(event.deltaY * 0.001));
    }
  }

  // Lets go.
  release() {
    if (this.busy?.particle !== undefined || this.busy?.ball) this.tell({ do: "release" });
    this.busy = null;
    this.canvas.classList.remove("pulling");
  }

  // Another scene: nothing of what was held is there any more.
  drop() {
    this.near = this.busy = null;
  }

  // Tells the engine, not too often, where the hand is.
  act() {
    const { busy } = this;
    if (!["pull", "touch"].includes(busy?.kind) || performance.now() - busy.sent < SEND) return;
    busy.kind === "pull" ? this.pull(busy) : this.touch(busy);
  }

  // The hand is tied to its particle by a spring.
  pull(busy) {
    const { scene, state } = this.look(), { particle } = busy;
    const place = [...state.positions.subarray(3 * particle, 3 * particle + 3)];
    const force = this.across(place, scene.pull_limit / (HAND * scene.size));
    if (!force.every(Number.isFinite)) return;
    busy.sent = performance.now();
    this.tell({ do: "pull", particle, force });
  }

  // The ball moves along the screen, at the depth at which it was laid on the object.
  touch(busy) {
    const way = this.across(busy.ball, 1), center = busy.ball.map((c, k) => c + way[k]);
    if (!center.every(Number.isFinite)) return;
    busy.sent = performance.now();
    this.tell({ do: "touch", center, radius: BALL * this.look().scene.size });
  }

  // From a place to the hand, along the screen, times a factor.
  across(place, factor) {
    const { x, y } = this.busy, { clientWidth: w, clientHeight: h } = this.canvas;
    const [px, py, depth] = project(this.camera.matrix(), place, w, h), { right, up } = this.camera.axes();
    const scale = this.camera.perPixel(depth, h) * factor;
    return right.map((r, k) => scale * ((x - px) * r - (y - py) * up[k]));
  }
}

// Middle and distance of the first two fingers.
function span(pointers) {
  const [[ax, ay], [bx, by]] = pointers.values();
  return { x: (ax + bx) / 2, y: (ay + by) / 2, size: Math.hypot(bx - ax, by - ay) };
}
