// The search for a document: where each of its targets stands, its row, and what became of its inputs.

import { Table, age, bytesText, count, list, make, order, timeOf, visible, words } from "./format.js";

const kIdBytesMax = 4096;

function base64Of(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function base64url(bytes) {
  return base64Of(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The bytes that somebody typed; a text that says what is wrong with them.
export function typedBytes(text, kind) {
  let bytes = new TextEncoder().encode(text);
  if (kind === "base64") {
    try {
      bytes = Uint8Array.from(atob(text.trim()), (one) => one.charCodeAt(0));
    } catch {
      return "This is no base64.";
    }
  }
  if (bytes.length === 0) return "Type the id of a document.";
  return bytes.length > kIdBytesMax ? `An id has at most ${count(kIdBytesMax)} bytes.` : bytes;
}

// What each target has got, or waits for: [{ target, state, kind, detail }]; as `resequencer why` tells it.
function standing(row, now) {
  const told = new Map();
  const groups = list(row.groups);
  const lastRelease = (target) => groups.find((group) => list(group.served).includes(target));
  const since = (target) => list(row.waiting).find((one) => list(one.targets).includes(target))?.since;
  const tell = (target, entry) => told.has(target) || told.set(target, { target, ...entry });
  for (const group of groups) {
    for (const target of list(group.pending)) {
      const has = lastRelease(target);
      tell(target, { state: "waits", kind: "busy", detail:
        `for the result of ${order(group.order)}, for ${age(now - timeOf(since(target)))} (since ${since(target)}); ` +
        (has ? `has ${order(has.order)}` : "has got nothing yet") });
    }
    for (const target of list(group.served))
      tell(target, { state: "has", kind: "good", detail: `${order(group.order)}, the newest for it` });
    for (const target of list(group.removed))
      tell(target, { state: "removed", kind: "", detail: `gets nothing for ${order(group.order)}` });
  }
  return [...told.values()];
}

function targetItem({ target, state, kind, detail }) {
  const chip = make("span", { class: `chip ${kind}` }, state);
  return make("li", {}, make("b", {}, visible(target)), " ", chip, " ", detail);
}

function facts(part, row) {
  const all = [
    ["State", words(row.state ?? "–")],
    ["Owner", `partition ${part.partition}, instance ${visible(String(part.instance))}, generation ` +
              `${part.generation}, as of ${part.committed ?? "–"}`],
  ];
  for (const group of list(row.groups)) {
    const names = ["pending", "served", "removed"].filter((what) => list(group[what]).length > 0);
    const stands = names.map((what) => `${what} ${list(group[what]).map(visible).join(", ")}`);
    all.push(["Order", [order(group.order), ...stands].join(" · ")]);
  }
  if (list(row.starving).length > 0) all.push(["Starving", row.starving.map(visible).join(", ")]);
  if (row.barrier) all.push(["Barrier", order(row.barrier)]);
  if (row.last_version) all.push(["Last version", row.last_version]);
  if (row.overdue_from) all.push(["Overdue from", row.overdue_from]);
  if (row.remembered_until) all.push(["Remembered until", row.remembered_until]);
  if (row.request)
    all.push(["Request", `${order(row.request.order)} at offset ${row.request.offset}, forwarded for ` +
                         (list(row.request.forwarded).map(visible).join(", ") || "no target")]);
  return make("dl", { class: "facts" }, ...all.flatMap(([name, value]) =>
    [make("dt", {}, name), make("dd", {}, String(value))]));
}

function eventRow({ time, event }, index) {
  const source = event.source;
  const input = source ? `${source.topic} ${source.partition}@${source.offset}` : "–";
  const operation = `${bytesText(event, "operation")}: ${event.outcome}${event.dry_run ? " (dry run)" : ""}`;
  const outcome = { outcome: event.outcome, operation }[event.kind] ?? event.kind;
  const cells = [time, words(outcome), event.reason ? words(event.reason) : "–", order(event.order),
                 order(event.expected), event.target ?? "–", event.version ?? "–", event.table_row ?? "–", input];
  return { key: String(index), cells: cells.map((cell) => visible(String(cell))) };
}

function timeline(found) {
  const parts = [make("h3", {}, "What became of its inputs")];
  const kept = { none: "This instance writes no events.", all: null,
                 drops: "Events tell of what was stopped (events = \"drops\"), not of what was passed on." };
  const note = (text, kind = "quiet") => text && parts.push(make("p", { class: kind }, text));
  note(kept[found.events_kept]);
  if (found.events_trouble) note(`The events topic cannot be read: ${visible(found.events_trouble)}`, "verdict bad");
  else if (!found.events_whole)
    note("There may be older ones: only the newest were read. `resequencer why` reads all of them.");
  const events = list(found.events);
  if (events.length === 0) {
    note("No event of this document.", "empty");
    return parts;
  }
  const element = make("table", { class: "cards timeline" });
  const table = new Table(element, "Events of the document, oldest first",
    ["Time", "Outcome", "Reason", "Order", "Newest", "Target", "Version", "Row", "Input"].map((name) => ({ name })));
  table.show(events.map(eventRow));
  parts.push(element);
  return parts;
}

// What was found, as elements.
export function documentParts(found, now) {
  const id = bytesText(found, "id") ?? "–";
  const parts = [make("h2", {}, "Document ", make("bdi", { class: "id" }, id))];
  if (typeof found.id_base64 === "string")
    parts.push(make("p", { class: "quiet" }, `Its id is no UTF-8. In base64: ${found.id_base64}`));
  if (found.trouble) parts.push(make("p", { class: "verdict bad" }, visible(found.trouble)));
  let known = false;
  for (const part of list(found.partitions))
    for (const row of list(part.documents)) {
      known = true;
      parts.push(make("ul", { class: "standing" }, ...standing(row, now).map(targetItem)), facts(part, row));
    }
  if (!known && found.complete)
    parts.push(make("p", { class: "empty" }, "Not known: it was never requested, or completed and forgotten."));
  if (!found.complete && !found.trouble)
    parts.push(make("p", { class: "verdict bad" },
                    "No instance answers for its partition: it is being taken over, or no instance runs. Try again."));
  return [...parts, ...timeline(found)];
}

export class Search {
  constructor() {
    this.form = document.getElementById("search");
    this.result = document.getElementById("document");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.lookUp();
    });
  }

  // One that was picked and not typed: `id`, or `id_base64`. A field for text cannot hold every text.
  open({ id, id_base64: base64 }) {
    const fits = typeof id === "string" && visible(id) === id;
    const bytes = typeof id === "string" ? new TextEncoder().encode(id) : null;
    this.form.elements.kind.value = fits ? "text" : "base64";
    this.form.elements.id.value = fits ? id : bytes ? base64Of(bytes) : base64;
    this.form.scrollIntoView({ block: "start" });
    this.form.elements.id.focus({ preventScroll: true });
    this.lookUp();
  }

  say(text, kind) {
    this.result.replaceChildren(make("p", { class: kind }, text));
  }

  async lookUp() {
    const bytes = typedBytes(this.form.elements.id.value, this.form.elements.kind.value);
    if (typeof bytes === "string") return this.say(bytes, "verdict busy");
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.say("Asking the instance that has it, and reading its events …", "quiet");
    try {
      const answer = await fetch(`/page/document?id=${base64url(bytes)}`, { signal: running.signal });
      if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 300)}`);
      const found = await answer.json();
      this.result.replaceChildren(...documentParts(found, Date.now()), this.closer());
    } catch (error) {
      if (error.name !== "AbortError") this.say(`The document cannot be looked up: ${error.message}`, "verdict bad");
    }
  }

  closer() {
    const button = make("button", { type: "button" }, "Close");
    button.addEventListener("click", () => this.result.replaceChildren());
    return button;
  }
}
