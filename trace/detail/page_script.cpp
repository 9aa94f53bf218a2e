// SPDX-License-Identifier: MIT
#include <string_view>

#include "weft/trace/detail/page_text.hpp"

/// The script of the page of a trace.  The events of a run are one array of numbers, with `width`
/// numbers for each event.
namespace weft::detail {

std::string_view page_script() noexcept {
  return R"page(</script>
<script>
'use strict';
const trace = JSON.parse(document.getElementById('trace').textContent);
const {strings, kinds, reasons, sources, runs, width} = trace;
let run = 0, data = [], count = 0;
const [DT, KIND, WORKER, PROCESS, OTHER, OPERATION, HANDLER, FILE, LINE, TEXT, OBJECT, VALUE, REASON,
       FLAGS, OTHER_WORKER, UNDER, DEPTH] = Array.from({length: width}, (_, i) => i);
const kind = Object.fromEntries(kinds.map((k, i) => [k, i]));
const at = (i, field) => data[i * width + field];
const $ = id => document.getElementById(id);
const text = n => n < 0 ? '' : strings[n];
const short = name => name.replace(/^weft::(detail::)?/, '').replace(/<>/g, '');
const place = (file, line) => line > 0 ? text(file).replace(/.*\//, '') + ':' + line : '';
const NAMED = new Set(['steal', 'park', 'wake', 'unpark', 'cancel', 'checkpoint', 'restore'].map(k => kind[k]));
const has_process = i => !NAMED.has(at(i, KIND));
let runs_processes;  // false: a trace of handlers without a scheduler
let names;  // of processes: their functions
const name_of = p => names.has(p) ? `${text(p)} ${names.get(p)}` : text(p);
const process_name = p => runs_processes ? name_of(p) : 'the program';

// ---- the state after an event, from the nearest state that was kept

let times, kept_apart, kept;

function start_state() { return {next: 0, queue: [], running: new Map(), output: 0, replays: 0}; }
function copy_state(s) {
  return {next: s.next, queue: s.queue.slice(), running: new Map(s.running), output: s.output};
}
// What a state's output is: how many pieces of `printed` there are.
let printed;
function apply(s) {
  const i = s.next++, k = at(i, KIND), p = at(i, PROCESS), w = at(i, WORKER);
  if (k === kind.put) {
    s.queue.push(i);
  } else if (k === kind.take) {
    const found = s.queue.findIndex(q => at(q, PROCESS) === p);
    if (found >= 0) s.queue.splice(found, 1);
    s.running.delete(w);
  } else if (k === kind.resume) {
    s.running.set(w, i);
  } else if (k === kind.suspend || k === kind.end) {
    const r = s.running.get(w);
    if (r !== undefined && at(r, PROCESS) === p) s.running.delete(w);
  } else if (k === kind.perform && at(i, TEXT) >= 0 && !(at(i, FLAGS) & 1)) {
    if (s.output === printed.length)
      printed.push(text(at(i, TEXT)) + (text(at(i, OPERATION)).endsWith('_line') ? '\n' : ''));
    ++s.output;
  }
}
let state;
function go_to_state(next) {
  let from = state.next <= next ? state : null;
  const near = Math.floor(next / kept_apart);
  for (let n = near; n >= 0 && (!from || from.next < n * kept_apart); --n)
    if (kept[n]) { from = copy_state(kept[n]); break; }
  state = from || start_state();
  while (state.next < next) {
    if (state.next % kept_apart === 0 && !kept[state.next / kept_apart])
      kept[state.next / kept_apart] = copy_state(state);
    apply(state);
  }
}

// ---- words

function words(i) {
  const k = kinds[at(i, KIND)], p = has_process(i) ? process_name(at(i, PROCESS)) : '';
  const o = short(text(at(i, OPERATION))), v = at(i, VALUE), w = at(i, WORKER);
  const thread = w < 0 ? 'a thread outside' : 'worker ' + w, other = name_of(at(i, OTHER));
  const replayed = at(i, FLAGS) & 1 ? ', from its log' : '';
  switch (k) {
    case 'perform': return `${p} performs ${o}${at(i, TEXT) >= 0 ? ' ' + JSON.stringify(text(at(i, TEXT))) : ''}${replayed}`;
    case 'answer': return `${p}: ${o} is answered at once${replayed}`;
    case 'suspend': return `${p} is suspended at ${o}`;
    case 'resume': return o ? `${p} goes on from ${o}, answer ${v}` : `${p} begins`;
    case 'put': return `${p} is put into the queue: ${reasons[at(i, REASON)]}`;
    case 'take': return `${p} is taken, by ${thread}`;
    case 'steal': return `${thread} steals ${v} from worker ${at(i, OTHER_WORKER)}`;
    case 'park': return `${thread} sleeps`;
    case 'wake': return `${thread} wakes worker ${at(i, OTHER_WORKER)}`;
    case 'unpark': return `${thread} is awake`;
    case 'spawn': return at(i, PROCESS) === at(i, OTHER) ? `the first process, ${p}` : `${p} spawns ${other}`;
    case 'fork': return `${p} forks ${other}`;
    case 'send': return `${p} sends a message to mailbox ${at(i, OBJECT)}`;
    case 'receive': return `${p} receives a message of mailbox ${at(i, OBJECT)}`;
    case 'timer': return `an alarm of ${p} is due`;
    case 'task_offered': return `${p} offers ${v} task${v === 1 ? '' : 's'}`;
    case 'task_taken': return v ? `a task becomes ${p}` : `${p} does its own task`;
    case 'checkpoint': return 'a version of the queue is kept';
    case 'restore': return 'a version that was kept takes the place of the queue';
    case 'cancel': return v ? 'a group of tasks is cancelled' : 'all processes are cancelled';
    case 'fail': return `${p} fails: ${text(at(i, TEXT))}`;
    case 'end': return `${p} ends`;
  }
  return k;
}

// ---- drawing

function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [a, v] of Object.entries(attributes)) e[a] = v;
  e.append(...children);
  return e;
}
function box(i, runs) {
  const o = short(text(at(i, OPERATION))), select = () => { selected = at(i, PROCESS); draw_handlers(shown_event); };
  return element('div', {className: runs ? 'box runs' : 'box', title: words(i) + '; click: its handlers', tabIndex: 0,
                         onclick: select, onkeydown: e => { if (e.key === 'Enter') select(); }},
    element('b', {}, name_of(at(i, PROCESS))),
    element('span', {}, o ? `at ${o}` : 'begins'),
    element('span', {}, place(at(i, FILE), at(i, LINE)) || '\u00a0'),
    element('span', {}, o ? `answer ${at(i, VALUE)}` : ''));
}
const MOST_BOXES = 60;
function draw_queue() {
  const lanes = [];
  for (const [w, i] of [...state.running].sort((a, b) => a[0] - b[0]))
    lanes.push(element('div', {className: 'lane'},
      element('span', {className: 'name'}, w < 0 ? 'outside' : 'worker ' + w),
      element('div', {className: 'boxes'}, box(i, true), stack_beside(at(i, PROCESS)))));
  const boxes = state.queue.slice(0, MOST_BOXES).map(i => box(i, false));
  if (state.queue.length > MOST_BOXES)
    boxes.push(element('div', {className: 'box'}, `and ${state.queue.length - MOST_BOXES} more`));
  if (!boxes.length) boxes.push(element('span', {className: 'faint'}, 'no process is ready'));
  lanes.push(element('div', {className: 'lane'}, element('span', {className: 'name'}, 'queue'),
    element('div', {className: 'boxes'}, ...boxes)));
  $('queue').replaceChildren(...lanes);
}
let shown_file = null;
function draw_source(i) {
  // The line of this event, or of the last one of its process.
  let where = -1;
  for (let j = i; j >= 0 && j > i - 500 && where < 0; --j)
    if (at(j, LINE) > 0 && at(j, FILE) >= 0 && sources[text(at(j, FILE))] !== undefined &&
        (!has_process(i) || at(j, PROCESS) === at(i, PROCESS)))
      where = j;
  if (where < 0) {
    if (shown_file === null) $('source').textContent = 'The source of the program was not found.';
    return;
  }
  const file = text(at(where, FILE));
  if (shown_file !== file) {
    shown_file = file;
    $('source').replaceChildren(...sources[file].split('\n').map((line, n) =>
      element('div', {}, element('i', {}, String(n + 1)), line)));
  }
  $('file').textContent = `${file}:${at(where, LINE)}`;
  for (const old of $('source').querySelectorAll('.now')) old.classList.remove('now');
  const now = $('source').children[at(where, LINE) - 1];
  if (now) {
    now.classList.add('now');
    const box = $('source');
    box.scrollTop = now.offsetTop - box.offsetTop - box.clientHeight / 2;
  }
}
// ---- handlers: an operation notes those around it up to the scheduler, the first process those outside

let operations, outside;  // of each process: its events with a handler that answers; names
function find_handlers() {
  operations = new Map(); outside = []; runs_processes = false;
  const seen = new Set();  // of traces without stacks
  for (let i = 0; i < count; ++i) {
    const h = at(i, HANDLER), p = at(i, PROCESS);
    if (at(i, KIND) === kind.resume) runs_processes = true;
    if (at(i, KIND) === kind.spawn && at(i, UNDER) >= 0) outside = text(at(i, UNDER)).split('\n');
    if (h < 0) continue;
    if (at(i, UNDER) < 0) seen.add(text(h));
    if (!operations.has(p)) operations.set(p, []);
    operations.get(p).push(i);
  }
  if (!outside.length) outside = [...seen];
}
/// The last event of a process with a handler that answers, up to event i; -1 if there is none.
function last_operation(p, i) {
  const all = operations.get(p) || [];
  let low = 0, high = all.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (all[mid] <= i) low = mid + 1; else high = mid;
  }
  return low ? all[low - 1] : -1;
}
/// The handlers of a process at event i, innermost first, and which of them answers; -1 if none does.
function stack_of(p, i) {
  const o = last_operation(p, i);
  if (o < 0) return {names: outside, answers: -1};
  const inside = at(o, UNDER) < 0 ? [] : text(at(o, UNDER)).split('\n'), h = text(at(o, HANDLER));
  const has_scheduler = inside.at(-1) === outside[0];
  const names = [...inside, ...outside.slice(has_scheduler ? 1 : 0)];
  const answers = names[at(o, DEPTH)] === h ? at(o, DEPTH) : names.indexOf(h);
  // The operation is over once the process is at another one.
  for (let j = o + 1; j <= i && j < o + 1000; ++j)
    if (has_process(j) && at(j, PROCESS) === p &&
        (at(j, KIND) === kind.end || (at(j, OPERATION) >= 0 && at(j, OPERATION) !== at(o, OPERATION))))
      return {names, answers: -1};
  return {names, answers};
}
function stack_beside(p) {
  const {names, answers} = stack_of(p, shown_event);
  return element('ol', {className: 'under', title: 'its handlers, innermost first'}, ...names.map((n, k) =>
    element('li', {className: k === answers ? 'answers' : ''}, short(n))));
}
let selected = -1;  // the process that was clicked at this event
function draw_handlers(i) {
  const running = state.running.get(at(i, WORKER));
  const of_event = has_process(i) ? at(i, PROCESS) : running !== undefined ? at(running, PROCESS) : -1;
  const p = selected >= 0 ? selected : of_event;
  const {names, answers} = p < 0 ? {names: outside, answers: -1} : stack_of(p, i);
  $('handlers-of').textContent = p < 0 ? 'Handlers' : `Handlers of ${process_name(p)}, innermost first`;
  $('handlers').replaceChildren(...names.map((n, k) =>
    element('li', {className: k === answers ? 'answers' : ''}, k === answers ? `${n} answers` : n)));
}
function draw_event(i) {
  const rows = [['event', kinds[at(i, KIND)]], ['time', (times[i] / 1000).toFixed(3) + ' \u00b5s'],
    ['thread', at(i, WORKER) < 0 ? 'outside' : 'worker ' + at(i, WORKER)]];
  if (has_process(i) && runs_processes) rows.push(['process', name_of(at(i, PROCESS))]);
  if (at(i, OPERATION) >= 0) rows.push(['operation', text(at(i, OPERATION))]);
  if (at(i, HANDLER) >= 0) rows.push(['handler', text(at(i, HANDLER))]);
  if (at(i, LINE) > 0) rows.push(['where', `${text(at(i, FILE))}:${at(i, LINE)}`]);
  $('event').replaceChildren(...rows.map(r =>
    element('tr', {}, element('td', {}, r[0]), element('td', {}, r[1]))));
}
let over;  // the event with which all processes are cancelled: a failure, a deadlock, or a stop
const LISTED = 40;
function draw_list(i) {
  const first = Math.max(0, Math.min(i - LISTED / 2, count - LISTED));
  const items = [];
  let now = null;
  for (let j = first; j < Math.min(count, first + LISTED); ++j) {
    if (j === over + 1) items.push(element('li', {className: 'faint'}, '\u2014 what follows is the unwinding \u2014'));
    const li = element('li', {className: j === i ? 'now' : '', onclick: () => show(j)},
      `${j + 1} ${words(j)}`);
    if (j === i) now = li;
    items.push(li);
  }
  $('events').replaceChildren(...items);
  if (now) $('events').scrollTop = now.offsetTop - $('events').offsetTop - $('events').clientHeight / 2;
}

// ---- the timeline: its slices are the steps

let steps, lanes, takes;  // steps: [process, worker, first event, begin, end]
function find_steps() {
  steps = []; lanes = new Map(); takes = [];
  const open = new Map();
  const close = (w, t) => { const s = open.get(w); if (s) { s[4] = t; open.delete(w); } };
  for (let i = 0; i < count; ++i) {
    const k = at(i, KIND), w = at(i, WORKER);
    if (k === kind.take) takes.push(i);
    if (k === kind.resume) {
      close(w, times[i]);
      const p = at(i, PROCESS);
      if (!lanes.has(p)) lanes.set(p, lanes.size);
      const s = [p, w, i, times[i], times[i]];
      open.set(w, s);
      steps.push(s);
    } else if (k === kind.take || k === kind.park || k === kind.end) {
      close(w, times[i]);
    }
  }
  for (const w of [...open.keys()]) close(w, times[count - 1]);
}
const LANE = 18, MOST_LANES = 400;
const canvas = $('time');
let total = 1, view;
function step_before(t) {  // the first step that may be seen at time t
  let low = 0, high = steps.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (steps[mid][3] < t) low = mid + 1; else high = mid;
  }
  return Math.max(0, low - 64);
}
function draw_time() {
  const shown = Math.min(lanes.size, MOST_LANES), scale = devicePixelRatio || 1;
  const w = canvas.clientWidth, h = Math.max(60, shown * LANE + 22);
  canvas.style.height = h + 'px';
  canvas.width = w * scale;
  canvas.height = h * scale;
  const c = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
  const color = name => style.getPropertyValue(name).trim();
  c.scale(scale, scale);
  c.font = '11px system-ui, sans-serif';
  const left = 70, x = t => left + (t - view.from) / (view.to - view.from) * (w - left);
  c.fillStyle = color('--faint');
  for (const [p, lane] of lanes) if (lane < shown) c.fillText(name_of(p).slice(0, 10), 4, lane * LANE + 13);
  const drawn = new Int32Array(shown).fill(-1);
  for (let n = step_before(view.from); n < steps.length && steps[n][3] <= view.to; ++n) {
    const [p, worker, , begin, end] = steps[n], lane = lanes.get(p);
    if (lane >= shown) continue;
    const a = Math.max(left, x(begin)), b = Math.max(a + 1, x(end));
    if (Math.floor(b) <= drawn[lane]) continue;  // nothing of it would be seen
    drawn[lane] = Math.floor(b);
    c.fillStyle = `hsl(${(worker * 67 + 195) % 360} 55% 50%)`;
    c.fillRect(a, lane * LANE + 3, b - a, LANE - 6);
  }
  c.strokeStyle = color('--bad');
  const now = x(times[shown_event] || 0);
  c.beginPath(); c.moveTo(now, 0); c.lineTo(now, h - 18); c.stroke();
  c.fillStyle = color('--faint');
  const label = t => t >= 1e6 ? (t / 1e6).toFixed(3) + ' ms' : (t / 1e3).toFixed(2) + ' \u00b5s';
  c.fillText(label(view.from), left, h - 5);
  c.textAlign = 'right';
  c.fillText(label(view.to), w - 4, h - 5);
}
const time_at = x => view.from + Math.max(0, x - 70) / (canvas.clientWidth - 70) * (view.to - view.from);
function clamp_view(from, to) {
  const size = Math.min(total, Math.max(to - from, 50));
  from = Math.max(0, Math.min(from, total - size));
  view = {from, to: from + size};
  draw_time();
}
canvas.addEventListener('wheel', e => {
  e.preventDefault();
  const t = time_at(e.offsetX), by = e.deltaY > 0 ? 1.25 : 0.8;
  clamp_view(t - (t - view.from) * by, t + (view.to - t) * by);
}, {passive: false});
let drag = null;
canvas.addEventListener('pointerdown', e => { drag = {x: e.offsetX, from: view.from, to: view.to, far: false}; });
canvas.addEventListener('pointermove', e => {
  if (!drag) return;
  const by = (e.offsetX - drag.x) / (canvas.clientWidth - 70) * (drag.to - drag.from);
  if (Math.abs(e.offsetX - drag.x) > 3) drag.far = true;
  if (drag.far) clamp_view(drag.from - by, drag.to - by);
});
addEventListener('pointerup', e => {
  if (drag && !drag.far && e.target === canvas) show(event_at(time_at(e.offsetX)));
  drag = null;
});
function event_at(t) {
  let low = 0, high = count - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (times[mid] <= t) low = mid; else high = mid - 1;
  }
  return low;
}

// ---- moving

let shown_event = 0;
function show(i) {
  if (!count) return;
  shown_event = i = Math.max(0, Math.min(count - 1, i));
  selected = -1;
  go_to_state(i + 1);
  $('position').value = i;
  $('jump').value = i + 1;
  $('status').textContent = words(i);
  draw_queue();
  draw_source(i);
  draw_event(i);
  draw_handlers(i);
  draw_list(i);
  draw_versions(i);
  mark_step(i);
  $('output').textContent = printed.slice(Math.max(0, state.output - 2000), state.output).join('');
  $('output').scrollTop = $('output').scrollHeight;
  if (times[i] < view.from || times[i] > view.to) {
    const size = view.to - view.from;
    clamp_view(times[i] - size / 2, times[i] + size / 2);
  } else {
    draw_time();
  }
}
function move(by) {
  let i = shown_event + by;
  if ($('grain').value === 'step') while (i > 0 && i < count - 1 && at(i, KIND) !== kind.resume) i += by;
  show(i);
}
let playing = null;
function play() {
  $('play').textContent = playing ? 'play' : 'pause';
  if (playing) { clearInterval(playing); playing = null; return; }
  if (shown_event === count - 1) show(0);
  playing = setInterval(() => { move(1); if (shown_event === over || shown_event === count - 1) play(); }, 350);
}
function search(by) {
  const wanted = $('search').value.toLowerCase();
  if (!wanted) return;
  for (let n = 1, i = shown_event; n <= count; ++n) {
    i = (i + by + count) % count;
    if (words(i).toLowerCase().includes(wanted) || text(at(i, OPERATION)).toLowerCase().includes(wanted))
      return show(i);
  }
  $('status').textContent = `No event has "${$('search').value}".`;
}
$('first').onclick = () => show(0);
const show_last = () => show(shown_event < over ? over : count - 1);
$('last').onclick = show_last;
$('back').onclick = () => move(-1);
$('forward').onclick = () => move(1);
$('play').onclick = play;
$('position').oninput = e => show(Number(e.target.value));
$('jump').onchange = e => show(Number(e.target.value) - 1 || 0);
$('search').onkeydown = e => { if (e.key === 'Enter') search(e.shiftKey ? -1 : 1); };
$('look').onclick = () => {
  const root = document.documentElement;
  const is_dark = root.dataset.look ? root.dataset.look === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.look = is_dark ? 'light' : 'dark';
  draw_time();
};
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT)$/.test(e.target.tagName)) {
    if (e.key === 'Escape') e.target.blur();
    return;
  }
  const keys = {ArrowRight: () => move(1), ArrowLeft: () => move(-1), Home: () => show(0),
    End: show_last, PageDown: () => show(shown_event + 100),
    PageUp: () => show(shown_event - 100), ' ': play, '/': () => $('search').focus(),
    n: () => search(1), N: () => search(-1)};
  if (e.key === ' ' && e.target.tagName === 'BUTTON') return;
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});
addEventListener('resize', draw_time);
// ---- versions of the queue: a tree, since a version that is restored has other ones after it

let versions;  // [event, parent, restored at, [[chunk, processes]...]]
const THUNK = 16;
function find_versions() {
  versions = [];
  const chunks = [];  // [first, last address]: parts with a common address are one chunk
  let current = -1;
  const chunk_of = (address, size) => {
    const last = address + THUNK * size;
    let found = chunks.findIndex(c => address < c[1] && last > c[0]);
    if (found < 0) found = chunks.push([address, last]) - 1;
    chunks[found] = [Math.min(chunks[found][0], address), Math.max(chunks[found][1], last)];
    return found;
  };
  for (let i = 0; i < count; ++i) {
    const k = at(i, KIND);
    if (k === kind.restore) {
      current = versions.findLastIndex(v => v.text === text(at(i, TEXT)));
      if (current >= 0) versions[current].restored.push(i);
    } else if (k === kind.checkpoint) {
      const parts = text(at(i, TEXT)).split(';').filter(Boolean).map(part => {
        const [address, processes] = part.split(':'), all = processes.split(',');
        return [chunk_of(parseInt(address, 16), all.length), all];
      });
      versions.push({event: i, parent: current, restored: [], text: text(at(i, TEXT)), parts,
                     depth: current < 0 ? 0 : versions[current].depth + 1});
      current = versions.length - 1;
    }
  }
  $('version-part').hidden = !versions.length;
}
const letter = n => String.fromCharCode(65 + n % 26) + (n >= 26 ? Math.floor(n / 26) : '');
function draw_versions(i) {
  $('versions').replaceChildren(...versions.filter(v => v.event <= i).map((v, n) => {
    const row = element('div', {className: 'version'},
      element('span', {className: 'faint'}, '\u2514'.repeat(Math.min(1, v.depth)) + `version ${n + 1}` +
        (v.restored.some(r => r <= i) ? ', restored' : '')),
      ...v.parts.map(([chunk, processes]) => {
        const name = element('b', {}, letter(chunk));
        name.style.background = `hsl(${(chunk * 67 + 195) % 360} 55% 38%)`;
        return element('span', {className: 'chunk', title: `chunk ${letter(chunk)}`}, name,
          ...processes.map(p => element('i', {}, p)));
      }));
    row.style.marginLeft = v.depth * 1.4 + 'rem';
    return row;
  }));
}

// ---- several runs, and the schedules that they are

function draw_schedules() {
  $('schedule-part').hidden = !runs.some(r => r.steps.length);
  $('run-label').hidden = runs.length < 2;
  $('run').replaceChildren(...runs.map((r, n) => element('option', {value: n}, r.title || `run ${n + 1}`)));
  $('schedules').replaceChildren(...runs.map((r, n) => element('div', {},
    element('h3', {}, r.title),
    element('ol', {className: 'steps'}, ...r.steps.map((words, step) =>
      element('li', {className: words.startsWith('!') ? 'preempts' : '', title: words,
                     onclick: () => { load(n); show(takes[step] ?? 0); }}, `${step + 1} ${words}`))))));
  $('outcomes-head').hidden = !trace.outcomes.length;
  $('outcomes').replaceChildren(...trace.outcomes.map(row =>
    element('tr', {}, ...row.map(cell => element('td', {}, cell)))));
}
function mark_step(i) {
  for (const old of $('schedules').querySelectorAll('.now')) old.classList.remove('now');
  let n = -1;
  while (n + 1 < takes.length && takes[n + 1] <= i && n + 1 < runs[run].steps.length) ++n;
  const now = n < 0 ? null : $('schedules').children[run].querySelectorAll('li')[n];
  if (now) {
    now.classList.add('now');
    now.parentNode.scrollTop = now.offsetTop - now.parentNode.offsetTop - now.parentNode.clientHeight / 2;
  }
}
function load(n) {
  run = n;
  data = runs[n].events;
  count = data.length / width;
  times = new Float64Array(count);
  for (let i = 0, t = 0; i < count; ++i) times[i] = t += at(i, DT);
  kept_apart = Math.max(2000, Math.ceil(count / 250));
  kept = [];
  printed = [];
  state = start_state();
  names = new Map();
  over = count;
  for (let i = 0; i < count; ++i) {
    if (at(i, KIND) === kind.put && at(i, TEXT) >= 0) names.set(at(i, PROCESS), text(at(i, TEXT)));
    if (at(i, KIND) === kind.cancel && at(i, VALUE) === 0) over = Math.min(over, i);
  }
  find_handlers();
  find_steps();
  find_versions();
  total = count ? times[count - 1] || 1 : 1;
  view = {from: 0, to: total};
  $('run').value = n;
  $('count').textContent = count + (trace.dropped ? ` (${trace.dropped} more were dropped)` : '');
  $('position').max = Math.max(0, count - 1);
}
$('run').onchange = e => { load(Number(e.target.value)); show(0); };
draw_schedules();
load(0);
if (count) show(0); else $('status').textContent = 'The trace is empty.';
</script>
</body>
</html>
)page";
}

}  // namespace weft::detail
