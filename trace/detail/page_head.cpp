// SPDX-License-Identifier: MIT
#include <string_view>

#include "weft/trace/detail/page_text.hpp"

/// The style and the frame of the page of a trace.
namespace weft::detail {

std::string_view page_head() noexcept {
  return R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>weft: a trace</title>
<style>
:root { color-scheme: light dark; --back: #fbfaf7; --panel: #fff; --ink: #1d2429; --faint: #66717a;
  --edge: #d8d5cc; --accent: #0a6b8f; --mark: #fff0b8; --run: #cfeadd; --bad: #b3261e; }
:root[data-look=dark] { --back: #14181b; --panel: #1c2226; --ink: #e6e9ea; --faint: #9aa5ac;
  --edge: #333c42; --accent: #6cc5e6; --mark: #4a4317; --run: #1d4a38; --bad: #ff8a80; }
@media (prefers-color-scheme: dark) { :root:not([data-look=light]) { --back: #14181b;
  --panel: #1c2226; --ink: #e6e9ea; --faint: #9aa5ac; --edge: #333c42; --accent: #6cc5e6;
  --mark: #4a4317; --run: #1d4a38; --bad: #ff8a80; } }
:root[data-look=light] { color-scheme: light; } :root[data-look=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
header { position: sticky; top: 0; z-index: 2; background: var(--back); padding: .5rem .75rem;
  border-bottom: 1px solid var(--edge); }
h1 { font-size: 1rem; margin: 0 1rem 0 0; display: inline-block; }
h2 { font-size: .8rem; margin: 0 0 .35rem; color: var(--faint); font-weight: 600;
  letter-spacing: .02em; }
.bar { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
button, input, select { font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--edge); border-radius: 5px; padding: .2rem .55rem; }
button:hover { border-color: var(--accent); }
button:focus-visible, input:focus-visible, [tabindex]:focus-visible, canvas:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 1px; }
#position { flex: 1 1 12rem; padding: 0; }
#status { margin: .35rem 0 0; min-height: 1.5em; font-weight: 600; overflow-wrap: anywhere; }
main { display: grid; gap: .75rem; padding: .75rem; grid-template-columns: repeat(12, 1fr); }
section { background: var(--panel); border: 1px solid var(--edge); border-radius: 7px;
  padding: .6rem .7rem; min-width: 0; }
#queue-part, #time-part, #schedule-part, #version-part { grid-column: span 12; } #source-part { grid-column: span 5; }
#list-part { grid-column: span 4; }
#side { grid-column: span 3; display: grid; gap: .75rem; align-content: start; }
@media (max-width: 1000px) { main > * { grid-column: span 12 !important; } }
.boxes { display: flex; gap: .4rem; overflow-x: auto; padding-bottom: .3rem; min-height: 2.2em; align-items: center; }
.box { flex: 0 0 auto; border: 1px solid var(--edge); border-radius: 5px; padding: .25rem .5rem;
  min-width: 7.5rem; max-width: 15rem; background: var(--back); }
.box.runs { background: var(--run); border-color: var(--accent); }
.box b { display: block; } .box span { display: block; color: var(--faint); font-size: .85em;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.lane { display: flex; gap: .6rem; align-items: center; }
.lane > .name { flex: 0 0 5.5rem; color: var(--faint); }
pre, code, .mono { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, monospace; }
pre { margin: 0; overflow: auto; }
#source { max-height: 27rem; } #source div { white-space: pre; padding: 0 .4rem; }
#source div.now { background: var(--mark); outline: 1px solid var(--accent); }
#source i { display: inline-block; width: 3.2em; color: var(--faint); font-style: normal;
  user-select: none; }
#output { max-height: 12rem; white-space: pre-wrap; min-height: 3em; }
#events { max-height: 27rem; overflow: auto; list-style: none; margin: 0; padding: 0; }
#events li { padding: .05rem .3rem; cursor: pointer; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; border-radius: 3px; } #events li.now { background: var(--mark); }
#handlers { list-style: none; margin: 0; padding: 0; }
#handlers li { border: 1px solid var(--edge); padding: .15rem .45rem; margin-top: -1px;
  overflow-wrap: anywhere; } #handlers li.answers { background: var(--mark); font-weight: 600; }
.under { display: flex; list-style: none; margin: 0; padding: 0; font-size: .85em; }
.under li { flex: 0 0 auto; border: 1px solid var(--edge); border-radius: 3px; padding: .05rem .35rem; }
.under li + li::before { content: "\2039\00a0"; margin-left: -.15rem; color: var(--faint); }
.under li.answers { background: var(--mark); font-weight: 600; }
.version { display: flex; gap: .3rem; align-items: center; margin-top: .25rem; overflow-x: auto; }
.chunk { display: flex; border: 2px solid var(--edge); border-radius: 4px; flex: 0 0 auto; }
.chunk i { font-style: normal; padding: 0 .35rem; border-left: 1px solid var(--edge); }
.chunk b { padding: 0 .35rem; color: #fff; }
.columns { display: flex; flex-wrap: wrap; gap: 1rem; } .columns > div { flex: 1 1 20rem; min-width: 0; }
.steps { list-style: none; margin: 0; padding: 0; max-height: 16rem; overflow: auto; }
.steps li { white-space: pre; cursor: pointer; padding: 0 .3rem; border-radius: 3px; overflow: hidden;
  text-overflow: ellipsis; } .steps li.preempts { color: var(--bad); font-weight: 600; }
.steps li.now { background: var(--mark); } h3 { font-size: .85rem; margin: 0 0 .25rem; }
table { border-collapse: collapse; width: 100%; } td { padding: .05rem .4rem .05rem 0;
  vertical-align: top; overflow-wrap: anywhere; } td:first-child { color: var(--faint); white-space: nowrap; }
canvas { width: 100%; display: block; touch-action: pan-y; cursor: crosshair; }
.faint { color: var(--faint); }
</style>
</head>
<body>
<header>
<div class="bar">
<h1>weft trace</h1>
<button id="first" aria-label="first event" title="Home">|&#x25C0;</button>
<button id="back" aria-label="back by one event" title="left arrow">&#x25C0;</button>
<button id="play" aria-label="play" title="space">play</button>
<button id="forward" aria-label="forward by one event" title="right arrow">&#x25B6;</button>
<button id="last" aria-label="last event" title="End">&#x25B6;|</button>
<label class="faint" id="run-label" hidden>run <select id="run" aria-label="run"></select></label>
<label class="faint">step by <select id="grain" aria-label="step by">
<option value="event">events</option><option value="step">steps</option></select></label>
<input id="position" type="range" min="0" value="0" aria-label="position in the trace">
<label class="faint">event <input id="jump" size="7" inputmode="numeric" aria-label="jump to event">
of <span id="count"></span></label>
<input id="search" type="search" placeholder="search ( / )" aria-label="search events">
<button id="look" aria-label="light or dark">light / dark</button>
</div>
<p id="status" role="status" aria-live="polite"></p>
</header>
<main>
<section id="queue-part" aria-label="run queue"><h2>Running, and ready in the queue</h2><div id="queue"></div></section>
<section id="schedule-part" aria-label="schedules" hidden><h2>Schedules: ! is a preemption, &gt; another switch</h2>
<div class="columns" id="schedules"></div>
<h3 id="outcomes-head">All outcomes</h3><table id="outcomes"></table></section>
<section id="version-part" aria-label="versions of the queue" hidden><h2>Versions of the queue that are kept: equal letters are one chunk, which they share</h2>
<div id="versions"></div></section>
<section id="source-part" aria-label="source"><h2 id="file">Source</h2><pre id="source" tabindex="0"></pre></section>
<div id="side">
<section aria-label="event"><h2>Event</h2><table id="event"></table></section>
<section aria-label="handlers"><h2 id="handlers-of">Handlers</h2><ol id="handlers"></ol></section>
<section aria-label="output"><h2>Output so far</h2><pre id="output" tabindex="0"></pre></section>
</div>
<section id="list-part" aria-label="events"><h2>Events</h2><ol id="events" tabindex="0"></ol></section>
<section id="time-part" aria-label="timeline"><h2>Time: a lane for each process <span class="faint">(wheel: zoom; drag: scroll; click: go there)</span></h2>
<canvas id="time" tabindex="0" height="200" aria-label="timeline of processes"></canvas></section>
</main>
<script id="trace" type="application/json">)page";
}

}  // namespace weft::detail
