// Numbers, times, ids and elements. Whatever comes from outside becomes text here, never markup.

const kWhole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const kTenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

// An element with attributes and children; texts become text nodes.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Writes only what has changed, so that a selection, and what a screen reader says, stay.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

export function count(value) {
  return isNumber(value) ? kWhole.format(value) : "–";
}

export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function rate(value) {
  if (!isNumber(value)) return "–";
  return value >= 100 || value === 0 ? kWhole.format(value) : kTenths.format(value);
}

// A duration in its two largest units: 45 s, 2 min 5 s, 3 h 20 min, 4 d 2 h.
export function age(ms) {
  if (!isNumber(ms)) return "–";
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  const [name, size] = units[first];
  const text = `${Math.floor(seconds / size)} ${name}`;
  if (first + 1 === units.length) return text;
  const [nextName, nextSize] = units[first + 1];
  const rest = Math.floor((seconds % size) / nextSize);
  return rest === 0 ? text : `${text} ${rest} ${nextName}`;
}

// The upper end of a bucket: 512 ms, 1.0 s, 17 min.
export function shortTime(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${kTenths.format(ms / 1000)} s`;
  if (ms < 3_600_000) return `${kTenths.format(ms / 60_000)} min`;
  return `${kTenths.format(ms / 3_600_000)} h`;
}

export function timeOf(text) {
  const time = typeof text === "string" ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}

// 20:41:07 of a time in ms.
export function clock(ms) {
  return ms === null ? "–" : new Date(ms).toISOString().slice(11, 19);
}

// Shows what would be invisible, or change what stands beside it: controls, and signs that turn the direction of text.
export function visible(text) {
  const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  return text.replace(hidden, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
}

// The bytes below `name` of an object, or null: as text, or from base64 with what is no ASCII as \xHH.
export function bytesText(object, name) {
  if (typeof object?.[name] === "string") return visible(object[name]);
  const base64 = object?.[`${name}_base64`];
  if (typeof base64 !== "string") return null;
  let bytes = "";
  try {
    bytes = atob(base64);
  } catch {
    return null;
  }
  return bytes.replace(/[^\x20-\x7e]|\\/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

// epoch/sequence+revision, without an epoch or revision of 0, as `resequencer describe` writes it.
export function order(value) {
  if (value === null || typeof value !== "object") return "–";
  let text = bytesText(value, "seq") ?? "–";
  if (isNumber(value.epoch) && value.epoch !== 0) text = `${value.epoch}/${text}`;
  if (typeof value.revision === "string" && value.revision !== "0") text += `+${value.revision}`;
  return text;
}

export function words(name) {
  return name === "dead_lettered" ? "dead-lettered" : String(name).replaceAll("_", " ");
}

export function list(value) {
  return Array.isArray(value) ? value : [];
}

export function sum(values) {
  return values.reduce((all, one) => all + (isNumber(one) ? one : 0), 0);
}

// A table whose rows stay where they are while their cells change: rows are known by a key.
export class Table {
  // `columns`: [{ name, number }].
  constructor(element, caption, columns) {
    this.columns = columns;
    this.rows = new Map();
    const heads = columns.map((column) => make("th", { scope: "col", ...this.kind(column) }, column.name));
    this.body = make("tbody");
    element.replaceChildren(make("caption", { class: "unseen" }, caption), make("thead", {}, make("tr", {}, ...heads)),
                            this.body);
  }

  kind(column) {
    return column.number ? { class: "number" } : {};
  }

  // `rows`: [{ key, cells: texts or elements, className }] in the order to be shown.
  show(rows) {
    const keys = new Set(rows.map((row) => row.key));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    rows.forEach((row, index) => this.place(row, index));
  }

  place(row, index) {
    let known = this.rows.get(row.key);
    if (known === undefined) {
      const cells = this.columns.map((column) => make("td", { "data-name": column.name, ...this.kind(column) }));
      known = { element: make("tr", { "data-key": row.key }, ...cells), cells };
      this.rows.set(row.key, known);
    }
    if (this.body.children[index] !== known.element) this.body.insertBefore(known.element, this.body.children[index]);
    known.element.className = row.className ?? "";
    row.cells.forEach((cell, i) => fill(known.cells[i], cell));
  }
}

function fill(element, cell) {
  element.classList.toggle("nothing", cell === "–");
  if (typeof cell === "string") return write(element, cell);
  if (element.childNodes.length === 1 && element.firstChild.isEqualNode(cell)) return;
  element.replaceChildren(cell);
}
