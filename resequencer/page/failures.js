// What failed: documents by what was said last, targets that cannot be reached, and when that was so before.

import { Table, age, bytesText, clock, count, isNumber, list, make, plural, sum, timeOf, visible, write }
  from "./format.js";

const kOfOneKind = 2;

// Targets that cannot be reached, in the partitions of a picture: [{ target, parts, since, error, triedAt,
// untilResume }]. Of several partitions: since the first, with its error; when the first tries it; how many wait for an
// operator.
export function targetsDown(picture) {
  const byTarget = new Map();
  for (const part of list(picture.partitions))
    for (const down of list(part.targets_down)) {
      const known = byTarget.get(down.target) ?? { target: down.target, parts: [], since: Infinity, triedAt: null,
                                                   untilResume: 0, error: null };
      const since = timeOf(down.since) ?? Infinity;
      const triedAt = timeOf(down.tried_at);
      if (known.parts.length === 0 || since < known.since)
        Object.assign(known, { since, error: bytesText(down, "error") });
      if (triedAt === null) known.untilResume += 1;
      else known.triedAt = Math.min(triedAt, known.triedAt ?? Infinity);
      known.parts.push(part.partition);
      byTarget.set(down.target, known);
    }
  return [...byTarget.values()].sort((a, b) => a.since - b.since);
}

function nextTry({ triedAt, untilResume, parts }, now) {
  const resumed = "not before it is resumed";
  if (triedAt === null) return resumed;
  const tries = triedAt <= now ? "now" : `in ${age(triedAt - now)}`;
  return untilResume === 0 ? tries : `${tries}; in ${untilResume} of ${parts.length} partitions ${resumed}`;
}

// What is wrong of it, as lines of the box.
export function failureTroubles(picture, now) {
  const found = [];
  const down = targetsDown(picture);
  for (const one of down.slice(0, kOfOneKind))
    found.push({ bad: one.triedAt === null,
                 text: `${visible(String(one.target))} cannot be reached in ${plural(one.parts.length, "partition")} ` +
                       `since ${clock(one.since)}, tried next ${nextTry(one, now)}` +
                       (one.error === null ? "" : `: ${one.error}`) });
  const more = down.slice(kOfOneKind).map((one) => visible(String(one.target)));
  if (more.length > 0) found.push({ bad: false, text: `${plural(more.length, "target")} more cannot be reached: ` +
                                                      more.slice(0, 20).join(", ") + (more.length > 20 ? ", …" : "") });
  const failed = picture.failures?.failed;
  if (failed > 0)
    found.push({ bad: false, text: `${plural(failed, "document")} failed for good: resequencer list --state failed ` +
                                   "names them, and nobody tries them again" });
  return found;
}

// For a shell.
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// What was said, as an operation takes it: { error }, which may be empty, or { error_base64 }. Null: it cannot be read.
function saidOf(entry) {
  if (typeof entry.error === "string") return { error: entry.error };
  if (entry.error_base64 === undefined) return { error: "" };
  return bytesText(entry, "error") === null ? null : { error_base64: entry.error_base64 };
}

// Whatever bytes were said; what cannot be typed as bash takes it. Null: no argument of a command can hold them.
function quotedError({ error, error_base64: base64 }) {
  if (error !== undefined && visible(error) === error) return quoted(error);
  const bytes = error === undefined ? [...atob(base64)].map((one) => one.charCodeAt(0))
                                    : [...new TextEncoder().encode(error)];
  if (bytes.includes(0)) return null;
  const plain = (byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c;
  const typed = (byte) => (plain(byte) ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`);
  return `$'${bytes.map(typed).join("")}'`;
}

// An operation; what it answers with, or an error that says why not.
async function operate(path, parameters) {
  const address = `/page/${path}?${new URLSearchParams(parameters)}`;
  const answer = await fetch(address, { method: "POST", headers: { "Reseq-Page": "1" } });
  const body = await answer.text();
  if (!answer.ok) throw new Error(body.trim() || `status ${answer.status}`);
  return JSON.parse(body);
}

// All of which something failed of exactly this error, slice by slice, for as long as the page is open. `tell` hears
// how far it is.
async function reprocess(said, tell) {
  let documents = 0;
  let leftOut = 0;
  for (let from = ""; from !== undefined;) {
    const told = await operate("reprocess", { ...said, from });
    documents += told.documents;
    leftOut += sum(Object.values(told.left_out ?? {}));
    from = told.more ? told.from : undefined;
    tell(`${count(documents)} requested again` + (leftOut > 0 ? `, ${count(leftOut)} left out` : "") +
         (from === undefined ? "" : " so far"));
  }
}

async function resume(target, tell) {
  const told = await operate("resume", { target });
  tell(`resumed in ${plural(list(told.events).filter((one) => one.outcome === "applied").length, "partition")}`);
}

const keyOf = (entry, name) => {
  if (typeof entry[name] === "string") return `text ${entry[name]}`;
  return typeof entry[`${name}_base64`] === "string" ? `base64 ${entry[`${name}_base64`]}` : "nothing";
};

export class Failures {
  // `onPick` gets an object with `id`, or with `id_base64`.
  constructor(onPick) {
    this.section = document.getElementById("failures-section");
    this.note = document.getElementById("failures-note");
    this.examples = new Map();
    this.operations = new Map();  // by key of a button: { run, busy, told }
    const number = (name) => ({ name, number: true });
    const element = document.getElementById("failures");
    this.errors = new Table(element, "Documents that failed, by what was said last", [
      { name: "Error" }, number("Failed"), number("Tried again"), number("Last"), { name: "Documents" },
      { name: "All of them again" }]);
    element.addEventListener("click", ({ target }) => {
      const key = target.closest("button")?.dataset.key;
      if (this.examples.has(key)) onPick(this.examples.get(key));
    });
    this.section.addEventListener("click", ({ target }) => {
      const key = target.closest("button")?.dataset.operation;
      if (this.operations.has(key)) this.run(this.operations.get(key));
    });
    this.down = new Table(document.getElementById("targets-down"), "Targets that cannot be reached", [
      { name: "Target" }, { name: "Partitions" }, number("Since"), { name: "Last error" }, { name: "Tried next" },
      { name: "To try at once" }]);
    this.changes = new Table(document.getElementById("breaker-changes"), "When targets could not be reached", [
      { name: "Time" }, { name: "Target" }, number("Partition"), { name: "What" }, { name: "Error" }]);
  }

  // Shown with the next picture, which is there in two seconds; that it has begun is shown at once.
  async run(operation) {
    if (operation.busy) return;
    operation.busy = true;
    operation.told = "asked for";
    this.show(this.picture);
    try {
      await operation.run((told) => {
        operation.told = told;
        this.show(this.picture);
      });
    } catch (error) {
      operation.told = `not done: ${visible(error.message)}`;
    }
    operation.busy = false;
    this.show(this.picture);
  }

  // A button where the page may do it, and what does the same in a shell.
  operation(key, name, command, run) {
    const shell = make("code", {}, command);
    if (!this.picture.operations) return shell;
    const known = this.operations.get(key) ?? { busy: false, told: "" };
    this.operations.set(key, Object.assign(known, { run }));
    const button = make("button", { type: "button", "data-operation": key, title: command,
                                    ...(known.busy ? { disabled: "" } : {}) }, name);
    return make("span", {}, button, " ", make("span", { class: "quiet", role: "status" }, known.told));
  }

  // What is not on the page any more, and does nothing.
  forget(keys) {
    for (const [key, { busy }] of this.operations) if (!busy && !keys.has(key)) this.operations.delete(key);
  }

  show(picture) {
    this.picture = picture;
    const now = timeOf(picture.time) ?? Date.now();
    const failures = picture.failures ?? {};
    const down = targetsDown(picture);
    const changes = list(picture.breaker_changes);
    const documents = sum([failures.failed, failures.retrying]);
    this.section.hidden = documents === 0 && down.length === 0 && changes.length === 0;
    this.forget(new Set([...list(failures.errors).map((one) => `reprocess ${keyOf(one, "error")}`),
                         ...down.map((one) => `resume ${one.target}`)]));
    if (this.section.hidden) return;
    write(this.note, `${plural(failures.failed ?? 0, "document")} failed for good, ${count(failures.retrying ?? 0)} ` +
                     "tried again");
    this.showErrors(failures, now);
    this.showDown(down, now);
    this.showChanges(changes);
  }

  showErrors(failures, now) {
    const errors = list(failures.errors);
    this.examples = new Map(errors.flatMap((one) => list(one.examples)).map((one) => [keyOf(one, "id"), one]));
    const rows = errors.map((one) => ({
      key: keyOf(one, "error"),
      cells: [make("bdi", {}, bytesText(one, "error") ?? "nothing was said"), count(one.failed), count(one.retrying),
              `${age(now - timeOf(one.last))} ago`, this.examplesOf(one), this.again(one)] }));
    if (failures.others)
      rows.push({ key: "others", cells: ["other errors", count(failures.others.failed), count(failures.others.retrying),
                                         "–", "–", "–"] });
    this.errors.show(rows);
    document.getElementById("failures").hidden = rows.length === 0;
  }

  examplesOf(error) {
    const buttons = list(error.examples).map((one) =>
      make("button", { type: "button", class: "link", "data-key": keyOf(one, "id") },
           make("bdi", { class: "id" }, bytesText(one, "id") ?? "–")));
    if (buttons.length === 0) return "–";
    return make("span", {}, ...buttons.flatMap((one, i) => (i === 0 ? [one] : [", ", one])));
  }

  again(error) {
    const said = saidOf(error);
    if (!(error.failed > 0) || said === null) return "–";
    const typed = quotedError(said);
    return this.operation(`reprocess ${keyOf(error, "error")}`, "Retry all",
                          typed === null ? "–" : `resequencer reprocess --state failed --error-is ${typed}`,
                          (tell) => reprocess(said, tell));
  }

  showDown(down, now) {
    document.getElementById("targets-down-part").hidden = down.length === 0;
    this.down.show(down.map((one) => ({
      key: one.target,
      className: one.triedAt === null ? "bad" : "busy",
      cells: [visible(String(one.target)), one.parts.slice(0, 20).join(", ") + (one.parts.length > 20 ? ", …" : ""),
              Number.isFinite(one.since) ? age(now - one.since) : "–", one.error ?? "–", nextTry(one, now),
              this.operation(`resume ${one.target}`, "Resume",
                             `resequencer resume --target ${quoted(String(one.target))}`,
                             (tell) => resume(one.target, tell))] })));
  }

  showChanges(changes) {
    document.getElementById("breaker-changes-part").hidden = changes.length === 0;
    this.changes.show(changes.map((one) => ({
      key: [one.instance, one.partition, one.target, one.at, one.down].join(" "),
      cells: [String(one.at ?? "–"), visible(String(one.target)),
              isNumber(one.partition) ? String(one.partition) : "–",
              one.down ? "cannot be reached" : "can be reached again", bytesText(one, "error") ?? "–"] })));
  }
}
