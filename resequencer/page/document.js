// The search for a document: where each of its targets stands, its row, and what became of its inputs.

import { Table, age, bytesText, count, list, make, order, timeOf, visible, words } from "./format.js";

const kIdBytesMax = 4096;
const kAddressMax = 2000;
const kEventsFirst = 20;
const kEventsMost = 1000;

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

const deletionOf = (row, target) => list(row.deleted).find((one) => one.target === target);
const deletedText = ({ order: by, at }) => `deleted by ${order(by)} at ${at}`;
// The barrier is the order of the last delete that was meant for all targets.
const asDelete = (row, group) =>
  row.barrier && order(row.barrier) === order(group.order) ? ", which was requested as a delete" : "";

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
      const deletion = deletionOf(row, target);
      const older = list(row.meanwhile).find((one) => list(one.targets).includes(target));
      const got = deletion ? deletedText(deletion) : has ? `released last: ${order(has.order)}` :
        older ? `got the result of an older request at ${older.at}` : "no release for it is known";
      tell(target, { state: "waits", kind: "busy", detail:
        `for the result of ${order(group.order)}${asDelete(row, group)}, for ` +
        `${age(now - timeOf(since(target)))} (since ${since(target)}); ${got}` });
    }
    for (const target of list(group.served)) {
      const deletion = deletionOf(row, target);
      const unchanged = row.request?.unchanged && order(row.request.order) === order(group.order);
      tell(target, unchanged
        ? { state: deletion ? "deleted" : "released", kind: deletion ? "" : "good",
            detail: `before ${order(group.order)}, which asks for nothing else` }
        : deletion
        ? { state: "deleted", kind: "", detail: `by ${order(deletion.order)} at ${deletion.at}` }
        : { state: "released", kind: "good",
            detail: `${order(group.order)}${asDelete(row, group)}, the newest for it` });
    }
    for (const target of list(group.removed))
      tell(target, { state: "removed", kind: "", detail: `gets nothing for ${order(group.order)}` });
  }
  return [...told.values()];
}

function targetItem({ target, state, kind, detail }) {
  const chip = make("span", { class: `chip ${kind}` }, state);
  return make("li", {}, make("b", {}, visible(target)), " ", chip, " ", detail);
}

const kObstacles = {
  turn: "it is its turn once what is more urgent has left", older_order: "an older order is under way",
  idle: "something more urgent is under way", room: "as many documents are under way as may be",
};

// An order that waits for its dispatch, or is under way since, as `resequencer describe` tells of it.
function queued(entry) {
  const waits = entry.state === "waiting";
  const parts = [order(entry.order), list(entry.targets).map(visible).join(", "), `priority ${entry.priority}`];
  if (waits) parts.push(entry.waits_for === "date" ? `not before ${entry.process_at}`
    : kObstacles[entry.waits_for] ?? "–");
  if (entry.attempt) parts.push(`attempt ${entry.attempt}${waits ? " was the last one" : ""}`);
  if (entry.lease_until) parts.push(`waits again at ${entry.lease_until} if nobody answers`);
  if (entry.stuck) parts.push(`stuck: its lease was lost ${count(entry.leases_lost)} times`);
  if (waits && entry.expires_at) parts.push(`nobody wants it from ${entry.expires_at} on`);
  return visible(parts.join(" · "));
}

function whatIsNext(head) {
  if (head.has_result) return "leaves now";
  if (head.skipped_at) return `skipped at ${head.skipped_at}`;
  return head.since ? "tried again when its lease ends" : "waits to go to work";
}

// What a strict or total target has of it in a lane, and what that waits for.
function inLane({ target, places, waits_for: head, held, blocks }) {
  const results = (some) => `${count(some.results)}${some.more ? "+" : ""}`;
  const parts = [visible(String(target)), places === 1 ? "1 place" : `${count(places)} places`];
  const since = head?.since ? ` since ${head.since}` : "";
  if (head) parts.push(`waits for ${bytesText(head, "id") ?? "–"} ${order(head.order)}${since}`, whatIsNext(head));
  if (held) parts.push(`${results(held)} of its results held, the first is ${order(held.order)}`);
  if (blocks) parts.push(`${results(blocks)} held behind it`);
  return visible(parts.join(" · "));
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
  for (const entry of list(row.journal)) all.push([entry.state === "waiting" ? "Waits" : "Under way", queued(entry)]);
  for (const lane of list(row.lanes)) if (lane.places > 0) all.push(["Lane", inLane(lane)]);
  for (const { target, order: by, at } of list(row.deleted))
    all.push(["Deleted", `${visible(target)} by ${order(by)} at ${at}`]);
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

function eventRow({ time, event, count: times, since }, index) {
  const source = event.source;
  const run = times > 1;
  const input = source ? `${source.topic} ${source.partition}@${source.offset}` : "–";
  const operation = `${bytesText(event, "operation")}: ${event.outcome}${event.dry_run ? " (dry run)" : ""}`;
  const outcome = { outcome: event.outcome, operation }[event.kind] ?? event.kind;
  const cells = [time, words(outcome) + (run ? `, ${count(times)} times` : ""),
                 event.reason ? words(event.reason) : "–", order(event.order), order(event.expected),
                 event.target ?? (list(event.targets).join(", ") || "–"), event.version ?? "–", event.table_row ?? "–",
                 input + (run ? `, the first at ${since}` : "")];
  return { key: String(index), cells: cells.map((cell) => visible(String(cell))) };
}

// Requests that came behind the newest one and were older, as `resequencer why` tells of them.
function latecomersText({ count: times, last }) {
  return `Behind its newest request came ${count(times)} older ${times === 1 ? "one" : "ones"}, the ` +
    `last of them ${order(last)}: a change that came late or was sent again is dropped as it should ` +
    "be; if the producer's counter has started again, it has to raise reseq-epoch, or `resequencer reset` does.";
}

// What there was no time to read.
function unreadText(unread, what) {
  return unread && `Not read: the oldest ${count(unread.offsets)} of ${count(unread.of)} offsets of the ${what}, ` +
    `partition ${unread.partition}, written before ${unread.before}. \`resequencer why --all\` reads them.`;
}

function note(parts, text, kind = "quiet") {
  if (text) parts.push(make("p", { class: kind }, text));
}

function timeline(found, showMore) {
  const parts = [make("h3", {}, "What became of its inputs")];
  const kept = { none: "This instance writes no events.", all: null,
                 drops: "Events tell of what was stopped (events = \"drops\"), not of what was passed on." };
  note(parts, kept[found.events_kept]);
  if (found.events_trouble)
    note(parts, `The events topic cannot be read: ${visible(found.events_trouble)}`, "verdict bad");
  note(parts, unreadText(found.events_unread, "events"));
  const events = list(found.events);
  if (events.length === 0) {
    note(parts, "No event of this document.", "empty");
    return parts;
  }
  const element = make("table", { class: "cards timeline" });
  const table = new Table(element, "Events of the document, newest first",
    ["Time", "Outcome", "Reason", "Order", "Newest", "Target", "Version", "Row", "Input"].map((name) => ({ name })));
  table.show(events.map(eventRow));
  parts.push(make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Events" }, element));
  if (found.events_more) parts.push(showMore);
  return parts;
}

// Its dead letters, the newest first.
function letterParts(found) {
  const parts = [];
  if (found.letters_trouble)
    note(parts, `Dead letters cannot be read: ${visible(found.letters_trouble)}`, "verdict bad");
  for (const letter of list(found.letters)) {
    note(parts, `Dead letter ${letter.place} of ${letter.time}: ${words(visible(letter.reason))}, from ` +
                visible(letter.source) +
                (letter.fix ? `. It belongs to partition ${letter.belongs_to}; ${letter.fix}` : ""), "verdict busy");
  }
  if (found.letters_more > 0)
    note(parts, `And ${count(found.letters_more)} older dead letters: \`resequencer dead-letter list\` names them.`);
  note(parts, unreadText(found.letters_unread, "dead letters"));
  return parts;
}

// What was found, as elements. `close` and `showMore` are buttons.
export function documentParts(found, now, { close, showMore }) {
  const id = bytesText(found, "id") ?? "–";
  const parts = [close, make("h2", {}, "Document ", make("bdi", { class: "id" }, id))];
  if (typeof found.id_base64 === "string")
    parts.push(make("p", { class: "quiet" }, `Its id is no UTF-8. In base64: ${found.id_base64}`));
  if (found.trouble) parts.push(make("p", { class: "verdict bad" }, visible(found.trouble)));
  let known = false;
  for (const part of list(found.partitions))
    for (const row of list(part.documents)) {
      known = true;
      const all = standing(row, now);
      parts.push(make("ul", { class: "standing" }, ...all.map(targetItem)));
      if (all.some(({ state }) => state === "released" || state === "deleted"))
        note(parts, "A release is written to the output topic. What its sink did with it, the sink's log and dead " +
                    "letters say.");
      if (row.latecomers) note(parts, latecomersText(row.latecomers));
      parts.push(facts(part, row));
    }
  if (!known && found.complete)
    note(parts, list(found.letters).length > 0
      ? "No target knows it: none of its requests was accepted, or it completed and was forgotten."
      : "Not known: it was never requested, or completed and forgotten" +
        (found.letters_unread ? ", or its requests are dead letters that were not read." : "."), "empty");
  if (!found.complete && !found.trouble)
    parts.push(make("p", { class: "verdict bad" },
                    "No instance answers for its partition: it is being taken over, or no instance runs. Try again."));
  return [...parts, ...letterParts(found), ...timeline(found, showMore)];
}

// The bytes of a document that an address names, as typed: { text, kind }; null: it names none.
function addressed() {
  const parameters = new URLSearchParams(location.search);
  if (parameters.has("id")) return { text: parameters.get("id"), kind: "text" };
  if (!parameters.has("id_base64")) return null;
  return { text: parameters.get("id_base64").replaceAll("-", "+").replaceAll("_", "/"), kind: "base64" };
}

// Short enough for what takes the line of a request, and the bytes as they are.
function addressOf(bytes, kind) {
  const asText = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const plain = `?id=${encodeURIComponent(asText).replaceAll("'", "%27")}`;
  return kind === "text" && plain.length <= kAddressMax ? plain : `?id_base64=${base64url(bytes)}`;
}

export class Search {
  constructor() {
    this.form = document.getElementById("search");
    this.result = document.getElementById("document");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.lookUp();
    });
    window.addEventListener("popstate", () => this.openAddressed());
    this.openAddressed();
  }

  // The document that the address of the page names, if it names one.
  openAddressed() {
    const wanted = addressed();
    if (wanted === null) return this.clear();
    this.form.elements.kind.value = wanted.kind;
    this.form.elements.id.value = wanted.text;
    this.lookUp();
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

  clear() {
    this.running?.abort();
    this.result.replaceChildren();
  }

  async lookUp(last = kEventsFirst) {
    const { id: { value: text }, kind: { value: kind } } = this.form.elements;
    const bytes = typedBytes(text, kind);
    if (typeof bytes === "string") return this.say(bytes, "verdict busy");
    const address = addressOf(bytes, kind);
    if (location.search !== address) history.pushState(null, "", address);
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.say("Asking the instance that has it, and reading its events …", "quiet");
    try {
      const answer = await fetch(`/page/document?id=${base64url(bytes)}&last=${last}`, { signal: running.signal });
      if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 300)}`);
      const found = await answer.json();
      const buttons = { close: this.closer(), showMore: this.more(last) };
      this.result.replaceChildren(...documentParts(found, Date.now(), buttons));
    } catch (error) {
      if (error.name !== "AbortError") this.say(`The document cannot be looked up: ${error.message}`, "verdict bad");
    }
  }

  closer() {
    const button = make("button", { type: "button", class: "close" }, "Close");
    button.addEventListener("click", () => {
      history.pushState(null, "", location.pathname);
      this.clear();
    });
    return button;
  }

  more(last) {
    if (last >= kEventsMost)
      return make("p", { class: "quiet" }, "There are older events: `resequencer why --all` shows all.");
    const button = make("button", { type: "button", class: "more" }, "Show older ones");
    button.addEventListener("click", () => this.lookUp(kEventsMost));
    return button;
  }
}
