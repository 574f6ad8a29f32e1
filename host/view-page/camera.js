// Where the eye is: it looks at a point from a distance, from an angle around z and one above the floor.

const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];
const dot = (a, b) => a.reduce((sum, v, k) => sum + v * b[k], 0);
const unit = a => a.map(v => v / Math.hypot(...a));
const FIELD = 0.6; // radians from top to bottom

// The box of all points but those that flew away: farther outside of the middle nine tenths than those are wide.
export function bulk(points) {
  const count = points.length / 3, stride = Math.ceil(count / 1000);
  const axes = [[], [], []];
  for (let p = 0; p < count; p += stride) axes.forEach((axis, k) => Number.isFinite(points[3 * p + k]) && axis.push(points[3 * p + k]));
  const at = share => axes.map(axis => axis.sort((a, b) => a - b)[Math.round(share * (axis.length - 1))] ?? NaN);
  const from = at(0.05), to = at(0.95), wide = Math.max(...to.map((t, k) => t - from[k]));
  const inside = p => from.every((f, k) => points[3 * p + k] >= f - wide && points[3 * p + k] <= to[k] + wide);
  const low = [Infinity, Infinity, Infinity], high = low.map(v => -v);
  for (let p = 0; p < count; p++) {
    if (!inside(p)) continue;
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k], points[3 * p + k]);
      high[k] = Math.max(high[k], points[3 * p + k]);
    }
  }
  return { low, high, inside };
}

export class Camera {
  target = [0, 0, 0];
  distance = 1;
  around = -1.95;
  above = 0.42;
  aspect = 1;

  // Looks at the whole of a box.
  fit(low, high) {
    this.target = low.map((l, k) => (l + high[k]) / 2);
    const half = low.map((l, k) => (high[k] - l) / 2);
    this.size = Math.max(Math.hypot(...half), 1e-9);
    // So far away that every corner of the box is in sight, with some margin.
    const { right, up, back } = this.axes(), reach = 0.85 * Math.tan(FIELD / 2);
    this.distance = this.size;
    for (let corner = 0; corner < 8; corner++) {
      const c = half.map((v, k) => (corner >> k & 1 ? v : -v));
      const aside = Math.max(Math.abs(dot(right, c)) / this.aspect, Math.abs(dot(up, c)));
      this.distance = Math.max(this.distance, dot(back, c) + aside / reach);
    }
  }

  turn(dx, dy) {
    this.around -= dx * 0.008;
    this.above = Math.max(-1.5, Math.min(1.5, this.above + dy * 0.008));
  }

  zoom(factor) {
    this.distance = Math.max(this.size * 0.05, Math.min(this.size * 40, this.distance * factor));
  }

  // Moves along the screen by pixels of a view so high.
  move(dx, dy, height) {
    const { right, up } = this.axes();
    const scale = this.perPixel(this.distance, height);
    this.target = this.target.map((t, k) => t - right[k] * dx * scale + up[k] * dy * scale);
  }

  // Length of a pixel at a depth.
  perPixel(depth, height) {
    return 2 * Math.tan(FIELD / 2) * depth / height;
  }

  axes() {
    const back = [
      Math.cos(this.above) * Math.cos(this.around), Math.cos(this.above) * Math.sin(this.around), Math.sin(this.above),
    ];
    const right = unit(cross([0, 0, 1], back));
    const up = cross(back, right);
    const eye = this.target.map((t, k) => t + this.distance * back[k]);
    return { eye, right, up, back };
  }

  // World to clip space, column by column.
  matrix() {
    const { eye, right, up, back } = this.axes();
    const f = 1 / Math.tan(FIELD / 2);
    const near = this.distance * 0.02, far = this.distance + this.size * 60;
    const a = (far + near) / (near - far), b = 2 * far * near / (near - far);
    const m = new Float32Array(16);
    for (let k = 0; k < 3; k++) {
      m[4 * k] = f / this.aspect * right[k];
      m[4 * k + 1] = f * up[k];
      m[4 * k + 2] = a * back[k];
      m[4 * k + 3] = -back[k];
    }
    m[12] = -f / this.aspect * dot(right, eye);
    m[13] = -f * dot(up, eye);
    m[14] = -a * dot(back, eye) + b;
    m[15] = dot(back, eye);
    return m;
  }
}

// A point on a screen of that size: pixels from the left, from the top, and depth.
export function project(m, p, width, height) {
  const row = k => m[k] * p[0] + m[4 + k] * p[1] + m[8 + k] * p[2] + m[12 + k];
  const depth = row(3);
  return [(1 + row(0) / depth) * width / 2, (1 - row(1) / depth) * height / 2, depth];
}
