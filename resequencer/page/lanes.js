// Lanes: what strict and total targets wait for, and what is held for them until that has come. Nothing is shown of it
// where no target is ordered.

import { Table, age, bytesText, clock, count, list, make, order, plural, sum, timeOf, visible, write }
  from "./format.js";

// Results come out of order all the time; what is waited for longer is news.
const kLongMs = 60_000;
const kOfOneKind = 2;

const orderedOf = (picture) => list(picture.targets).filter((one) => one.order !== undefined);

// What all partitions tell of the lanes of a target.
function lanesOf(picture, target) {
  const lanes = list(picture.partitions).map((part) => part.documents?.lanes?.by_target?.[target])
    .filter((one) => one !== undefined);
  const all = (name) => sum(lanes.map((one) => one[name]));
  return { head: headOf(lanes), places: all("places"), held: all("held"), bytes: all("held_bytes"), gaps: all("gaps") };
}

// What is wrong of it, as lines of the box.
export function laneTroubles(picture, now) {
  const long = orderedOf(picture).map(({ target }) => ({ name: visible(String(target)), ...lanesOf(picture, target) }))
    .filter(({ gaps, head }) => gaps > 0 && now - (timeOf(head?.since) ?? now) >= kLongMs);
  const found = long.slice(0, kOfOneKind).map(({ name, head, held }) => ({
    bad: false,
    text: `${name} waits for ${bytesText(head, "id") ?? "–"} ${order(head.order)} since ` +
          `${clock(timeOf(head.since))}, ${skippedAt(head, now)}, ${plural(held, "result")} held: ` +
          "resequencer list --state gap names what is waited for" }));
  const more = long.length - found.length;
  if (more > 0) found.push({ bad: false, text: `${plural(more, "target")} more with results that are held back` });
  return found;
}

export class Lanes {
  // `onPick` gets an object with `id`, or with `id_base64`.
  constructor(onPick) {
    const element = document.getElementById("lanes");
    this.heads = new Map();
    this.table = new Table(element, "What ordered targets wait for", [
      { name: "Target" }, { name: "Order" }, { name: "Waits for" }, { name: "Sequence" },
      { name: "Since", number: true }, { name: "Skipped" }, { name: "Places", number: true },
      { name: "Held", number: true }, { name: "Held bytes", number: true }, { name: "Gaps now", number: true }]);
    element.addEventListener("click", ({ target }) => {
      const key = target.closest("button")?.closest("tr").dataset.key;
      if (this.heads.has(key)) onPick(this.heads.get(key));
    });
  }

  show(picture) {
    const now = timeOf(picture.time) ?? Date.now();
    const ordered = orderedOf(picture);
    document.getElementById("lanes-section").hidden = ordered.length === 0;
    this.heads.clear();
    this.table.show(ordered.map((one) => this.rowOf(one, picture, now)));
    const { gaps = 0, held_released: released = 0 } = picture.lanes ?? {};
    write(document.getElementById("lanes-note"),
          `${plural(gaps, "result")} skipped, ${count(released)} released that had been held, since the instances ` +
          "were started");
  }

  rowOf({ target, order: kind }, picture, now) {
    const { head, places, held, bytes, gaps } = lanesOf(picture, target);
    if (head !== null) this.heads.set(target, head);
    const since = timeOf(head?.since);
    return {
      key: target,
      className: gaps > 0 ? "busy" : "",
      cells: [visible(String(target)), visible(String(kind)),
              head === null ? "nothing" : make("button", { type: "button", class: "link" },
                                               make("bdi", { class: "id" }, bytesText(head, "id") ?? "–")),
              order(head?.order), since === null ? "–" : age(now - since), skipped(head, now),
              count(places), count(held), count(bytes), count(gaps)],
    };
  }
}

// Of all partitions, what is skipped first: of those that have a gap, if some do. What waits for its dispatch or has a
// lease is not skipped.
function headOf(lanes) {
  const gaps = lanes.filter((one) => one.gaps > 0);
  const heads = (gaps.length > 0 ? gaps : lanes).map((one) => one.waits_for)
    .filter((head) => head !== undefined && !head.has_result);
  const at = (head) => timeOf(head.skipped_at) ?? Infinity;
  return heads.sort((a, b) => at(a) - at(b) || 0)[0] ?? null;
}

function skippedAt(head, now) {
  return timeOf(head.skipped_at) === null ? "tried again when its lease ends" : `skipped ${skipped(head, now)}`;
}

function skipped(head, now) {
  const at = timeOf(head?.skipped_at);
  if (at === null) return "–";
  return at <= now ? "now" : `in ${age(at - now)}`;
}
