// What a picture shows: tiles, charts, partitions, instances, lateness, outcomes. A picture is what the instances
// answered within one round (docs/page.md).

import { TimeChart, kWindowMs } from "./chart.js";
import {
  Table, age, clock, count, isNumber, list, make, plural, rate, shortTime, sum, timeOf, visible, words, write,
} from "./format.js";
import { failureTroubles } from "./failures.js";
import { laneTroubles } from "./lanes.js";

const kInputs = ["requests", "control", "commands"];
const kOutcomes = ["forwarded", "released", "dropped", "dead_lettered", "registered", "removed", "applied",
                   "redirected", "stopped", "waiting", "unchanged", "held"];
const kUsual = 4;  // of them: those that are shown without having occurred
// What is wrong is told line by line: so many of one kind, so that none hides another, and so many in all.
const kOfOneKind = 2;
const kTroublesMax = 12;
// Below that a transaction that is open is an ordinary one.
const kStalledMs = 10_000;
const kManyOlder = 50; // documents; fewer are late, as the alert has it
// An instance that does not answer is shown for so long, and for a third of it as one that somebody has to look at.
const kRememberMs = 15 * 60_000;
const kAlarmMs = 5 * 60_000;
// The instance remembers less often than it shows.
const kHistoryEveryMs = 15_000;
// A target that got nothing for so long while documents wait for it for at least as long.
const kQuietMs = 60_000;
const kWaitsForBrokers = "waits for brokers";

export const lagOf = (part, input) => part.inputs?.[input]?.lag;
const surveyed = (part, name) => part.documents?.[name];
function stateOf(part) {
  if (part.refused) return "refused";
  return part.parked ? "parked" : part.paused ? "paused" : part.state ?? "";
}

export const runs = (part) => stateOf(part) === "running";

// How long the document of these partitions waits that waits longest; 0: none does; null: nobody has looked yet.
function oldest(parts, now) {
  const looked = parts.filter((part) => isNumber(surveyed(part, "overdue")));
  if (looked.length === 0) return null;
  const since = looked.map((part) => timeOf(part.documents.oldest_waits_since)).filter((time) => time !== null);
  return since.length === 0 ? 0 : Math.max(0, now - Math.min(...since));
}

// The sum over partitions, null when none of them tells.
function total(parts, of) {
  const told = parts.map(of).filter(isNumber);
  return told.length === 0 ? null : sum(told);
}

function restoreText({ paused, restore, state }) {
  if (paused) return "paused";
  if (!restore) return words(state);
  const whole = restore.target - restore.from;
  const left = Math.max(0, restore.target - restore.position);
  const percent = whole > 0 ? Math.floor((100 * (whole - left)) / whole) : 100;
  return `${words(state)}: ${percent} %, ${count(left)} offsets left`;
}

// What is known of instances and owners beyond one picture: one that is gone does not say so.
export class Memory {
  constructor() {
    this.instances = new Map();
    this.owners = new Map();
    this.points = [];
  }

  take(picture, now) {
    for (const reply of list(picture.instances)) this.instances.set(reply.instance, { reply, heard: now });
    // Of before this page was opened.
    for (const reply of list(picture.silent)) {
      const heard = timeOf(reply.heard);
      if (heard !== null && heard > (this.instances.get(reply.instance)?.heard ?? 0))
        this.instances.set(reply.instance, { reply, heard });
    }
    for (const [name, { heard }] of this.instances) if (now - heard > kRememberMs) this.instances.delete(name);
    for (const part of list(picture.partitions)) this.owners.set(part.partition, part.instance);
    if (this.points.length === 0)
      this.points = list(picture.history).filter(({ t }) => t < now)
        .map((one) => ({ ...one, gap: 4 * kHistoryEveryMs }));
    if (picture.point) this.points.push({ ...picture.point, t: now, gap: 4 * (picture.every_ms ?? 2000) });
    this.points = this.points.filter(({ t }) => t > now - kWindowMs - 4 * kHistoryEveryMs && t <= now);
  }

  silent(now) {
    return [...this.instances].filter(([, { heard }]) => heard < now);
  }
}

function unanswered(picture) {
  const answered = new Set(list(picture.partitions).filter((part) => !part.refused).map((part) => part.partition));
  return Array.from({ length: picture.partitions_total ?? 0 }, (_, i) => i).filter((i) => !answered.has(i));
}

// What is wrong, the worst first: [{ bad, text }]. `bad`: somebody has to act; else it may pass by itself.
export function troubles(picture, memory, now) {
  const found = [];
  const parts = list(picture.partitions);
  const missing = unanswered(picture);
  const silent = memory.silent(now);
  const each = (bad, which, text, rest) => {
    for (const part of which.slice(0, kOfOneKind)) found.push({ bad, text: text(part) });
    const more = which.slice(kOfOneKind).map((one) => one.partition);
    if (more.length === 0) return;
    found.push({ bad, text: `And ${plural(more.length, "partition")} more ${rest}: ${someOf(more)}` });
  };
  each(true, parts.filter((one) => one.parked), (part) =>
    `Partition ${part.partition} is parked: ${words(part.parked.reason)}: ${visible(String(part.parked.detail))}` +
    (part.parked.first_step ? `: ${visible(String(part.parked.first_step))}` : ""), "parked");
  each(true, parts.filter((one) => one.checkpoint_error), (part) =>
    `The copy of partition ${part.partition} cannot be written to disk: ${visible(String(part.checkpoint_error))}. ` +
    "Nothing is lost; a restart reads more of the changelog", "whose copies cannot be written");
  const away = picture.brokers_away;
  if (away)
    found.push({ bad: true, text: `Waits for brokers since ${clock(timeOf(away.since))}, nothing is decided until ` +
                                  `they answer: ${visible(String(away.why))}` });
  else if (picture.trouble)
    found.push({ bad: true, text: `Only the instance that serves this page is shown; the others cannot be asked: ` +
                                  visible(String(picture.trouble)) });
  else if (missing.length > 0)
    found.push({ bad: true, text: `No instance answers for ${plural(missing.length, "partition")}: ` +
                                  someOf(missing) });
  if (!away && !picture.trouble)
    for (const [name, { heard }] of silent)
      found.push({ bad: now - heard < kAlarmMs, text: `Instance ${visible(name)} answered last at ` +
                                                       `${clock(heard)}: stopped, killed or cut off` });
  const paused = pausedOf(parts).map((one) => one.partition);
  if (paused.length === 1)
    found.push({ bad: false, text: `Partition ${paused[0]} is paused by an operator and decides nothing: ` +
                                   `resequencer resume --partition ${paused[0]}` });
  else if (paused.length > 1)
    found.push({ bad: false, text: `${plural(paused.length, "partition")} are paused by an operator and decide ` +
                                   `nothing: resequencer resume --partition P, or --all: ${someOf(paused)}` });
  each(false, parts.filter((one) => one.requests_stopped), (part) =>
    `Requests of partition ${part.partition} are not read: more than held_bytes_max of results is held for strict ` +
    "and total targets: resequencer list --state gap says what they wait for", "whose requests are not read");
  each(false, parts.filter((one) => !away && !runs(one) && !one.parked && !one.paused), (part) =>
    `Partition ${part.partition} is being taken over: ${restoreText(part)}`, "being taken over");
  for (const input of kInputs)
    each(false, parts.filter((part) => (part.inputs?.[input]?.stalled_ms ?? 0) >= kStalledMs), (part) =>
      `Reading ${input} of partition ${part.partition} stands still since ` +
      `${clock(now - part.inputs[input].stalled_ms)}: a transaction is open there`, `whose ${input} stand still`);
  const overdue = total(parts, (part) => surveyed(part, "overdue"));
  const starving = total(parts, (part) => surveyed(part, "starving"));
  if (overdue > 0) found.push({ bad: false, text: named(overdue, "overdue") });
  if (starving > 0) found.push({ bad: false, text: named(starving, "starving") });
  const stuck = sum(parts.map((part) => surveyed(part, "stuck")));
  if (stuck > 0) found.push({ bad: false, text: named(stuck, "stuck") });
  const older = sum(parts.map((part) => surveyed(part, "only_older_requests")));
  if (older >= kManyOlder)
    found.push({ bad: false, text: `${plural(older, "document")} got only requests that are older than the newest ` +
                                   "one: if a producer's counter has started again, it has to raise reseq-epoch, " +
                                   "or resequencer reset does" });
  found.push(...failureTroubles(picture, now), ...laneTroubles(picture, now));
  if (!away) for (const one of list(picture.targets)) found.push(...quietText(one, now));
  const dead = sum(parts.map((part) => part.per_s?.dead_lettered));
  if (dead > 0) found.push({ bad: false, text: "Inputs are dead-lettered: the reasons are below Outcomes, and " +
                                   "resequencer dead-letter list names them" });
  const told = lettersText(picture.letters, now);
  if (told) found.push({ bad: false, text: told });
  return found.sort((a, b) => Number(b.bad) - Number(a.bad));
}

function quietText(one, now) {
  const waits = now - (timeOf(one.oldest_waits_since) ?? now);
  if (!(one.waiting > 0) || !(one.quiet_ms >= kQuietMs) || waits < kQuietMs) return [];
  // An instance that was started since knows of none before.
  const atLeast = one.released_ms_ago === one.quiet_ms ? "" : "at least ";
  return [{ bad: false, text: `${visible(String(one.target))}: no result for ${atLeast}${age(one.quiet_ms)}, and ` +
                              `${plural(one.waiting, "document")} wait${one.waiting === 1 ? "s" : ""}, the first for ` +
                              `${age(waits)}: look at your workers` }];
}

// They stay in their topic until it lets them go, whether they were sent again or not.
function lettersText(letters, now) {
  if (letters?.trouble) return `Dead letters cannot be counted: ${visible(String(letters.trouble))}`;
  const reasons = list(letters?.reasons);
  if (reasons.length === 0) return letters && !letters.whole ? "Not all dead letters could be looked at in time" : null;
  const told = reasons.map((one) => `${count(one.letters)} ${words(visible(one.reason))}`).join(", ");
  const old = now - Math.max(...reasons.map((one) => timeOf(one.newest)));
  const newest = old < 60_000 ? "less than a minute" : age(old - (old % 60_000));
  return `${letters.whole ? "" : "At least "}${plural(sum(reasons.map((one) => one.letters)), "dead letter")}, the ` +
         `newest ${newest} old: ${told}: resequencer dead-letter list names them`;
}

const pausedOf = (parts) => parts.filter((one) => stateOf(one) === "paused");

const someOf = (numbers) => numbers.slice(0, 20).join(", ") + (numbers.length > 20 ? ", …" : "");

const named = (number, state) =>
  `${plural(number, "document")} ${state}: resequencer list --state ${state} names them`;

export class Overview {
  constructor() {
    this.memory = new Memory();
    this.tiles = new Map();
    this.charts = this.makeCharts();
    const number = (name) => ({ name, number: true });
    this.partitions = new Table(document.getElementById("partitions"), "Partitions and who has them", [
      number("Partition"), { name: "Instance" }, { name: "State" }, number("Lag requests"), number("Lag control"),
      number("Lag commands"), number("Forwarded/s"), number("Released/s"), number("Dropped/s"),
      number("Dead-lettered/s"), number("Live"), number("Overdue"), number("Starving"), number("Oldest waits")]);
    this.targets = new Table(document.getElementById("targets"), "Targets", [
      { name: "Target" }, number("Waiting"), number("Overdue"), number("Oldest waits"), number("Released/s"),
      number("Last release")]);
    this.queue = new Table(document.getElementById("queue"), "What waits for its dispatch, by priority", [
      number("Priority"), number("Waiting"), number("Under way"), number("Due for")]);
    this.instances = new Table(document.getElementById("instances"), "Instances", [
      { name: "Instance" }, { name: "State" }, { name: "Host" }, { name: "Version" }, number("Workers"),
      { name: "Partitions" }]);
    this.outcomes = new Table(document.getElementById("outcomes"), "Outcomes by reason", [
      { name: "Outcome" }, { name: "Reason" }, number("Inputs")]);
    this.letters = new Table(document.getElementById("letters"), "Dead letters by reason", [
      { name: "Reason" }, number("Letters"), number("Oldest"), number("Newest")]);
  }

  makeCharts() {
    const chart = (id, options) => new TimeChart(document.getElementById(id), options);
    const outcomes = kOutcomes.map((name, i) => ({ name, label: words(name), always: i < kUsual }));
    const inputs = kInputs.map((name) => ({ name, label: name, always: true }));
    const waiting = ["live", "overdue", "starving"].map((name) => ({ name, label: name, always: true }));
    const oldestOne = [{ name: "oldest", label: "oldest", always: true }];
    return {
      outcomes: chart("chart-outcomes", {
        title: "Outcomes", unit: "inputs per second", series: outcomes, format: rate, scaleFormat: count, least: 10 }),
      lag: chart("chart-lag", {
        title: "Lag", unit: "offsets to the end of an input", series: inputs, format: count, least: 10 }),
      live: chart("chart-live", {
        title: "Documents that wait", unit: "and of them overdue, starving", series: waiting, format: count,
        least: 10 }),
      oldest: chart("chart-oldest", {
        title: "Oldest document", unit: "waits for", series: oldestOne, format: age, least: 60_000 }),
    };
  }

  show(picture) {
    const now = timeOf(picture.time) ?? Date.now();
    this.memory.take(picture, now);
    this.showTiles(picture, now);
    this.showPartitions(picture, now);
    this.showTargets(list(picture.targets), now);
    this.showQueue(picture, now);
    this.showInstances(picture, now);
    showLateness(document.getElementById("lateness"), list(picture.instances));
    this.showOutcomes(list(picture.partitions));
    this.showLetters(picture.letters, now);
    this.redraw(now);
    const found = troubles(picture, this.memory, now);
    if (found.length <= kTroublesMax) return found;
    const rest = found.length - (kTroublesMax - 1);
    return [...found.slice(0, kTroublesMax - 1), { bad: false, text: `And ${rest} more: resequencer stats tells all` }];
  }

  redraw(now) {
    for (const [name, chart] of Object.entries(this.charts))
      chart.show(this.memory.points.map((point) => ({ t: point.t, gap: point.gap, values: point[name] })), now);
  }

  showTiles(picture, now) {
    const parts = list(picture.partitions);
    const rates = parts.flatMap((part) => Object.values(part.per_s ?? {}));
    const lag = total(parts, (part) => total(kInputs, (input) => lagOf(part, input)));
    const wait = oldest(parts, now);
    const running = parts.filter(runs).length;
    const whole = picture.partitions_total ?? 0;
    const overdue = total(parts, (part) => surveyed(part, "overdue"));
    const starving = total(parts, (part) => surveyed(part, "starving"));
    this.tile("inputs", "Inputs decided", rate(sum(rates)), "/s", false);
    const lacking = unanswered(picture).length;
    const note = lacking > 0 ? `lacks ${plural(lacking, "partition")}` : "";
    const paused = pausedOf(parts).length;
    this.tile("lag", "Lag, all inputs", count(lag),
              note || (paused > 0 ? `without ${plural(paused, "partition")} paused` : "offsets"), false);
    this.tile("running", "Partitions running", `${running} of ${whole}`, "", running < whole);
    this.tile("live", "Live documents", count(total(parts, (part) => part.documents?.live)), note, false);
    this.tile("overdue", "Overdue", count(overdue), note, overdue > 0);
    this.tile("starving", "Starving", count(starving), note, starving > 0);
    this.tile("oldest", "Oldest waits for", wait === 0 ? "none" : age(wait), note, false);
    const completed = total(parts, (part) => part.documents?.completed);
    this.tile("completed", "Completed", count(completed), note, false);
  }

  tile(key, name, value, unit, alarms) {
    let tile = this.tiles.get(key);
    if (tile === undefined) {
      tile = { value: make("span", { class: "value" }), unit: make("span", { class: "quiet" }) };
      const shown = make("dd", {}, tile.value, " ", tile.unit);
      tile.element = make("div", { id: `tile-${key}` }, make("dt", {}, name), shown);
      document.getElementById("tiles").append(tile.element);
      this.tiles.set(key, tile);
    }
    write(tile.value, value);
    write(tile.unit, unit);
    tile.element.classList.toggle("alarms", alarms);
  }

  showPartitions(picture, now) {
    const workers = new Map(list(picture.instances).map((one) => [one.instance, one.workers]));
    const waits = (part) => picture.brokers_away && !part.parked;
    const rows = list(picture.partitions).map((part) =>
      this.partitionRow(part, workers.get(part.instance), now, waits(part)));
    for (const partition of unanswered(picture)) {
      if (rows.some((row) => row.key === String(partition))) continue;
      const owner = this.memory.owners.get(partition);
      const who = owner === undefined ? "–" : `– (was ${visible(owner)})`;
      const state = picture.brokers_away ? kWaitsForBrokers : "no instance answers";
      rows.push({ key: String(partition), className: "bad",
                  cells: [String(partition), who, chip(state, "bad"), ...Array(11).fill("–")] });
    }
    rows.sort((a, b) => Number(a.key) - Number(b.key));
    this.partitions.show(rows);
    const running = list(picture.partitions).filter(runs).length;
    write(document.getElementById("partitions-note"), `${running} of ${picture.partitions_total ?? 0} running`);
  }

  partitionRow(part, workers, now, waits) {
    const kind = waits || part.parked || part.refused ? "bad" : runs(part) ? "good" : "busy";
    const text = waits ? kWaitsForBrokers : part.parked ? `parked: ${words(part.parked.reason)}`
      : runs(part) ? "running" : restoreText(part);
    const perSecond = (name) => (runs(part) ? rate(part.per_s?.[name] ?? 0) : "–");
    const wait = oldest([part], now);
    return {
      key: String(part.partition),
      className: kind === "good" ? "" : kind,
      cells: [String(part.partition), visible(String(part.instance)) + (workers > 1 ? `, worker ${part.worker}` : ""),
              chip(text, kind), ...kInputs.map((input) => count(lagOf(part, input))), perSecond("forwarded"),
              perSecond("released"), perSecond("dropped"), perSecond("dead_lettered"), count(part.documents?.live),
              count(surveyed(part, "overdue")), count(surveyed(part, "starving")), wait === 0 ? "none" : age(wait)],
    };
  }

  showLetters(letters, now) {
    const reasons = list(letters?.reasons);
    const old = (time) => age(now - timeOf(time));
    this.letters.show(reasons.map((one) => ({
      key: one.reason,
      cells: [words(visible(one.reason)), count(one.letters), old(one.oldest), old(one.newest)] })));
    const note = !letters ? "not counted yet" : letters.trouble ? "cannot be counted" : letters.whole === false
      ? "the newest of them" : reasons.length === 0 ? "none" : "that their topic holds";
    write(document.getElementById("letters-note"), note);
  }

  showTargets(targets, now) {
    this.targets.show(targets.map((one) => {
      const since = timeOf(one.oldest_waits_since);
      const alarms = quietText(one, now).length > 0 || one.overdue > 0;
      return {
        key: one.target,
        className: alarms ? "busy" : "",
        cells: [visible(String(one.target)), count(one.waiting), count(one.overdue),
                since !== null ? age(now - since) : isNumber(one.waiting) ? "none" : "–", rate(one.per_s),
                isNumber(one.released_ms_ago) ? `${age(one.released_ms_ago)} ago` : "–"],
      };
    }));
  }

  // Nothing is shown of it while nothing has ever waited.
  showQueue(picture, now) {
    const queue = list(picture.queue);
    const { ended = {}, leases_lost: lost = 0, dispatched_per_s: perSecond = 0 } = picture.waits ?? {};
    const quiet = queue.length === 0 && sum(Object.values(ended)) === 0 && lost === 0;
    document.getElementById("queue-section").hidden = quiet;
    if (quiet) return;
    this.queue.show(queue.map((one) => {
      const since = timeOf(one.due_since);
      return { key: String(one.priority), className: "",
               cells: [String(one.priority), count(one.waiting), count(one.processing),
                       since === null ? "none" : age(now - since)] };
    }));
    const stuck = sum(list(picture.partitions).map((part) => surveyed(part, "stuck")));
    const parts = [`${rate(perSecond)} of what waited dispatched a second`, `${plural(lost, "lease")} lost`];
    if (stuck > 0) parts.push(`${plural(stuck, "document")} stuck`);
    write(document.getElementById("queue-note"), parts.join(", "));
  }

  showInstances(picture, now) {
    const rows = [...this.memory.instances].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
    this.instances.show(rows.map(([name, { reply, heard }]) => {
      const silent = heard < now;
      const owned = list(picture.partitions).filter((part) => part.instance === name).map((part) => part.partition);
      const unknown = silent && (picture.trouble || picture.brokers_away);
      const text = !silent ? "answers" : unknown ? "cannot be asked" : `no answer for ${age(now - heard)}`;
      const own = name === picture.instance ? ", serves this page" : "";
      return {
        key: name,
        className: silent ? "bad" : "",
        cells: [visible(name) + own, chip(text, silent ? "bad" : "good"), visible(String(reply.host ?? "–")),
                visible(String(reply.version ?? "–")), count(reply.workers),
                silent ? "–" : owned.length === 0 ? "none" : owned.join(", ")],
      };
    }));
  }

  showOutcomes(parts) {
    const counts = new Map();
    for (const part of parts)
      for (const [outcome, reasons] of Object.entries(part.outcomes ?? {}))
        for (const [reason, number] of Object.entries(reasons)) {
          const key = `${outcome} ${reason}`;
          counts.set(key, { outcome, reason, number: (counts.get(key)?.number ?? 0) + number });
        }
    const place = ({ outcome }) => (kOutcomes.includes(outcome) ? kOutcomes.indexOf(outcome) : kOutcomes.length);
    const rows = [...counts].sort(([a, x], [b, y]) => place(x) - place(y) || a.localeCompare(b, "en"));
    this.outcomes.show(rows.length === 0
      ? [{ key: "none", cells: ["none yet", "", ""] }]
      : rows.map(([key, { outcome, reason, number }]) =>
          ({ key, cells: [words(outcome), reason === "none" ? "" : words(reason), count(number)] })));
  }
}

function chip(text, kind) {
  return make("span", { class: `chip ${kind}` }, text);
}

// One bar per bucket, from the first that is not empty to the last; buckets end at powers of two.
function showLateness(element, instances) {
  const byEnd = new Map();
  for (const { lateness } of instances)
    for (const { up_to_ms: end = Infinity, count: number } of list(lateness))
      byEnd.set(end, (byEnd.get(end) ?? 0) + number);
  const key = JSON.stringify([...byEnd]);
  if (element.dataset.shown === key) return;
  element.dataset.shown = key;
  if (byEnd.size === 0) return element.replaceChildren(make("p", { class: "empty" }, "No result came too late."));
  const ends = [...byEnd.keys()].sort((a, b) => a - b);
  const finite = ends.filter(Number.isFinite);
  const shown = [];
  for (let end = finite[0]; end <= finite.at(-1); end *= 2) shown.push(end);
  if (byEnd.has(Infinity)) shown.push(Infinity);
  const most = Math.max(...byEnd.values());
  element.replaceChildren(make("ul", { class: "bars" }, ...shown.map((end) => bar(end, byEnd.get(end) ?? 0, most))));
}

function bar(end, number, most) {
  const filled = make("span", { class: "filled" });
  filled.style.width = `${(100 * number) / most}%`;
  const label = Number.isFinite(end) ? `up to ${shortTime(end)}` : "longer";
  return make("li", { "data-end": String(end) }, make("span", { class: "label" }, label),
              make("span", { class: "track" }, filled), make("b", {}, count(number)));
}
