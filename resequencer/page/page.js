// The page: hears pictures from the stream, shows them, and says when none come any more.

import { Search } from "./document.js";
import { age, clock, make, timeOf, visible, write } from "./format.js";
import { Failures } from "./failures.js";
import { Lanes } from "./lanes.js";
import { Overview } from "./overview.js";
import { WaitingList } from "./waiting.js";

// The browser itself tries again after a connection that broke, but not after an answer that is no stream.
const kAgainMs = 3_000;
// The brokers may hold up a picture for so long.
const kSilenceMs = 15_000;

const search = new Search();
const overview = new Overview();
const waiting = new WaitingList((document) => search.open(document));
const failures = new Failures((document) => search.open(document));
const lanes = new Lanes((document) => search.open(document));
const stream = { source: null, heardAt: null, openedAt: null, again: null };

function showChip(text, kind) {
  const chip = document.getElementById("stream");
  write(chip, text);
  chip.className = `chip ${kind}`;
}

// `counted`: what there is of dead letters is known; it takes a moment after the page was opened.
function showVerdict(lines, counted) {
  const element = document.getElementById("verdict");
  const key = JSON.stringify([lines, counted]);
  if (element.dataset.shown === key) return;
  element.dataset.shown = key;
  const worst = lines.some((line) => line.bad) ? "bad" : lines.length > 0 || !counted ? "busy" : "good";
  element.className = `verdict ${worst}`;
  const texts = lines.length > 0 ? lines : [{ text: counted
    ? "Nothing is wrong: all partitions run, no document is overdue."
    : "All partitions run, no document is overdue. Dead letters are being counted." }];
  element.replaceChildren(...texts.map(({ text }) => make("p", {}, text)));
}

function showPicture(picture) {
  const own = (picture.instances ?? []).find((one) => one.instance === picture.instance);
  const application = visible(String(own?.application ?? ""));
  write(document.getElementById("application"), application);
  document.title = `${application} · resequencer`;
  write(document.getElementById("as-of"), `as of ${clock(timeOf(picture.time))} UTC, told by instance ` +
                                          visible(String(picture.instance)));
  showVerdict(overview.show(picture), picture.letters !== undefined);
  waiting.show(picture);
  failures.show(picture);
  lanes.show(picture);
  document.getElementById("read-only").hidden = picture.operations === true;
  showChip("live", "good");
  document.body.classList.remove("stale");
}

// What is on the page is old: it says so, and stays.
function showLost(why) {
  showChip("not live", "bad");
  document.body.classList.toggle("stale", stream.heardAt !== null);
  const since = stream.heardAt === null
    ? "Nothing was heard yet."
    : `What is shown is ${age(Math.floor((Date.now() - stream.heardAt) / 5000) * 5000)} old.`;
  showVerdict([{ bad: true, text: `${why} ${since} Trying again.` }], false);
}

function listen() {
  stream.source?.close();
  clearTimeout(stream.again);
  stream.openedAt = null;
  const source = new EventSource("/page/pictures");
  stream.source = source;
  source.onopen = () => {
    stream.openedAt = Date.now();
  };
  source.onmessage = ({ data }) => {
    stream.heardAt = Date.now();
    showPicture(JSON.parse(data));
  };
  source.onerror = async () => {
    stream.openedAt = null;
    source.close();
    stream.again = setTimeout(listen, kAgainMs);
    showLost(await whyNot());
  };
}

// An EventSource does not tell what it was answered.
async function whyNot() {
  try {
    const answer = await fetch("/livez");
    if (answer.status === 200 || answer.status === 503)
      return "This instance answers, but its stream has ended: too many pages look at it, or it is stopping.";
  } catch {
    // What follows is said then.
  }
  return "This instance cannot be reached: it has ended, or the way to it is cut.";
}

function watch() {
  const last = Math.max(stream.heardAt ?? 0, stream.openedAt ?? 0);
  if (stream.openedAt === null || Date.now() - last < kSilenceMs) return;
  showLost(stream.heardAt === null
    ? "This instance is there and tells nothing yet: it starts, and waits for brokers."
    : "This instance is there and tells nothing more: it waits for brokers, or stops.");
}

listen();
setInterval(watch, 1000);
