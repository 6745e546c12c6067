// The documents that wait longest, of all partitions, and the way from one of them to its timeline.

import { Table, age, bytesText, list, make, timeOf } from "./format.js";

const kShown = 10;
// One that is neither overdue nor starving is no news before it has waited for so long.
const kLongMs = 60_000;

export class WaitingList {
  // `onPick` gets an object with `id`, or with `id_base64`.
  constructor(onPick) {
    const element = document.getElementById("waiting");
    this.entries = new Map();
    this.none = document.getElementById("waiting-none");
    this.table = new Table(element, "Documents that wait longest", [
      { name: "Document" }, { name: "Partition", number: true }, { name: "State" }, { name: "Waits", number: true },
      { name: "Since" }]);
    element.addEventListener("click", ({ target }) => {
      const key = target.closest("button")?.closest("tr").dataset.key;
      if (this.entries.has(key)) onPick(this.entries.get(key));
    });
  }

  show(picture) {
    const now = timeOf(picture.time) ?? Date.now();
    const waits = (entry) => now - (timeOf(entry.since) ?? now);
    const all = list(picture.instances).flatMap((one) => list(one.longest_waits))
      .filter((entry) => entry.state !== "live" || waits(entry) >= kLongMs)
      .sort((a, b) => waits(b) - waits(a)).slice(0, kShown);
    this.entries = new Map(all.map((entry) => [keyOf(entry), entry]));
    this.table.show([...this.entries].map(([key, entry]) => {
      const id = make("bdi", { class: "id" }, bytesText(entry, "id") ?? "–");
      const state = make("span", { class: entry.state === "live" ? "chip" : "chip busy" }, entry.state);
      return { key, cells: [make("button", { type: "button", class: "link" }, id), String(entry.partition), state,
                            age(waits(entry)), entry.since] };
    }));
    this.none.hidden = all.length > 0;
  }
}

const keyOf = (entry) => (typeof entry.id === "string" ? `text ${entry.id}` : `base64 ${entry.id_base64}`);
