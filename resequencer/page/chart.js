// Lines over the last minutes, drawn as SVG. The scale only moves when it has to, so that nothing jitters.

import { isNumber, make, write } from "./format.js";

export const kWindowMs = 15 * 60_000;
const kSvg = "http://www.w3.org/2000/svg";
const kWidth = 1000;
const kHeight = 100;
// Below this part of the scale a smaller one is taken.
const kShrinkAt = 0.3;

function draw(tag, attributes) {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// The least of 1, 2, 5, 10, 20, 50, ... that is not below `value`.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value);
}

export class TimeChart {
  // `series`: [{ name, label, always }] in the order of their colours; those that are not `always` there appear with
  // their first value above 0. `format`: of a value, `scaleFormat`: of the scale. `least`: the smallest scale.
  constructor(figure, { title, unit, series, format, scaleFormat = format, least }) {
    Object.assign(this, { title, unit, series, format, scaleFormat, least, scale: least });
    this.svg = draw("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, preserveAspectRatio: "none", role: "img" });
    for (const part of [0, 0.5, 1])
      this.svg.append(draw("line", { x1: 0, x2: kWidth, y1: part * kHeight, y2: part * kHeight, class: "grid" }));
    this.top = make("span", { class: "scale" });
    this.legend = make("ul", { class: "legend" });
    this.lines = series.map((one, index) => this.line(one, index));
    figure.replaceChildren(
      make("figcaption", {}, title, " ", make("span", { class: "quiet" }, unit)),
      make("div", { class: "plot" }, this.top, this.svg),
      make("p", { class: "axis quiet", "aria-hidden": "true" }, make("span", {}, "15 min ago"),
           make("span", {}, "now")),
      this.legend);
  }

  line(one, index) {
    const path = draw("path", { class: `line colour-${index}` });
    const key = draw("svg", { viewBox: "0 0 24 4", class: "key", "aria-hidden": "true" });
    key.append(draw("path", { class: `line colour-${index}`, d: "M0 2H24" }));
    const value = make("b");
    const entry = make("li", { "data-series": one.name }, key, one.label, " ", value);
    this.svg.append(path);
    this.legend.append(entry);
    entry.hidden = !one.always;
    return { path, value, entry };
  }

  // `points`: [{ t, gap, values: { name: number or null } }], oldest first; two are joined if they are no further apart
  // than the longer `gap` of both. `now`: the right edge.
  show(points, now) {
    const recent = points.filter((point) => point.t > now - kWindowMs - point.gap);
    const highest = Math.max(0, ...recent.flatMap((point) => this.series.map(({ name }) => point.values[name] ?? 0)));
    if (highest > this.scale || highest < this.scale * kShrinkAt)
      this.scale = highest > this.least ? roundUp(highest) : this.least;
    write(this.top, this.scaleFormat(this.scale));
    const last = recent.at(-1)?.values ?? {};
    this.series.forEach(({ name }, index) => {
      const { path, value, entry } = this.lines[index];
      if (entry.hidden && recent.some((point) => point.values[name] > 0)) entry.hidden = false;
      path.setAttribute("d", this.path(recent, name, now));
      write(value, this.format(last[name]));
    });
    const told = this.series.filter((_, index) => !this.lines[index].entry.hidden);
    const text = told.map(({ name, label }) => `${label} ${this.format(last[name])}`).join(", ");
    this.svg.setAttribute("aria-label", `${this.title}, ${this.unit}, now: ${text}`);
  }

  path(points, name, now) {
    let text = "";
    let before = null;
    let gapBefore = 0;
    for (const { t, gap, values } of points) {
      const value = values[name];
      if (!isNumber(value)) {
        before = null;
        continue;
      }
      const x = (kWidth * (t - now + kWindowMs)) / kWindowMs;
      const y = kHeight * (1 - value / this.scale);
      const joined = before !== null && t - before <= Math.max(gap, gapBefore);
      // A point on its own would not be seen.
      text += joined ? `L${x.toFixed(1)} ${y.toFixed(2)}` : `M${(x - 2).toFixed(1)} ${y.toFixed(2)}h2`;
      before = t;
      gapBefore = gap;
    }
    return text;
  }
}
