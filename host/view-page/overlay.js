// Drawn over the object: names, the chosen particle, pull and answer as arrows.

import { project } from "./camera.js";
import { short } from "./plot.js";

// The hand pulls with full strength at this share of the object's size.
export const HAND = 0.25;

const PULL = "#c4501b", ANSWER = "#2f5d9b";

export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
  }

  draw(camera, scene, state, near, chosen) {
    const { canvas } = this, dense = devicePixelRatio;
    const c = canvas.getContext("2d"), w = canvas.width / dense, h = canvas.height / dense;
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.clearRect(0, 0, w, h);
    const matrix = camera.matrix();
    const at = p => [...state.positions.subarray(3 * p, 3 * p + 3)];
    const place = p => project(matrix, p, w, h);
    c.font = "13px system-ui, sans-serif";
    c.textAlign = "center";
    for (const [name, particle] of scene.labels) {
      const p = at(particle);
      p[2] += 0.2 * (scene.high[2] - scene.low[2]);
      const [x, y, depth] = place(p);
      if (depth > 0) text(c, name, x, y - 8, "#3d2b1f");
    }
    const ring = (particle, radius, color) => {
      const [x, y, depth] = place(at(particle));
      if (!(depth > 0)) return;
      c.beginPath();
      c.arc(x, y, radius, 0, 7);
      c.strokeStyle = color;
      c.lineWidth = 2;
      c.stroke();
    };
    if (chosen !== null) ring(chosen, 6, "#3d2b1f");
    if (near !== null) ring(near, 8, PULL);
    const { pull, touch } = state;
    const felt = feltByHand(state);
    if (touch) {
      const [px, py, depth] = place(touch.slice(0, 3));
      if (depth > 0) {
        c.beginPath();
        c.arc(px, py, touch[3] / camera.perPixel(depth, h), 0, 7);
        c.fillStyle = "#2f5d9b55";
        c.fill();
        c.strokeStyle = ANSWER;
        c.lineWidth = 2;
        c.stroke();
        const size = Math.hypot(...felt), share = Math.max(0.25, Math.min(2, size / scene.pull_limit));
        const middle = touch.slice(0, 3), end = middle.map((v, k) => v + HAND * scene.size * share * felt[k] / size);
        if (size > 0) arrow(c, [px, py], place(end), `${short(size)} N`, ANSWER);
        else text(c, "0 N", px, py + 4, ANSWER);
      }
    }
    if (pull) {
      // The pull ends where the hand is, until it has its full strength.
      const from = at(pull.particle), scale = HAND * scene.size / scene.pull_limit;
      for (const [force, color] of [[pull.reaction, ANSWER], [pull.force, PULL]]) {
        const size = Math.hypot(...force);
        // An answer may be stronger than the strongest pull; its arrow has an end all the same.
        const length = scale * Math.min(1, 2 * scene.pull_limit / size);
        if (size > 1e-3 * scene.pull_limit) arrow(c, place(from), place(from.map((v, k) => v + force[k] * length)), `${short(size)} N`, color);
      }
    }
  }
}

// What the object presses on the hand's ball with, in newtons, while one is there.
export function feltByHand({ touch, forces }) {
  return touch && (forces.findLast(([name]) => name === "hand")?.[1] ?? [0, 0, 0]);
}

function text(c, words, x, y, color) {
  c.lineWidth = 4;
  c.strokeStyle = "#fffdf8cc";
  c.strokeText(words, x, y);
  c.fillStyle = color;
  c.fillText(words, x, y);
}

function arrow(c, [x0, y0], [x1, y1], words, color) {
  const angle = Math.atan2(y1 - y0, x1 - x0), head = 11;
  c.strokeStyle = c.fillStyle = color;
  c.lineWidth = 3;
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
  c.beginPath();
  c.moveTo(x1 + head * 0.6 * Math.cos(angle), y1 + head * 0.6 * Math.sin(angle));
  for (const side of [2.6, -2.6]) c.lineTo(x1 + head * Math.cos(angle + side), y1 + head * Math.sin(angle + side));
  c.fill();
  text(c, words, x1 + 46 * Math.cos(angle), y1 + 20 * Math.sin(angle) + 4, color);
}
