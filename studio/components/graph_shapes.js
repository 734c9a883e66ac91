// Pieces of the picture as elements: marks, icons, nodes, lines. Pure: values in, elements out, and all text
// goes into text nodes. MARKS (shapes, icons, words of every status and type) is put before this text.

const SVG = "http://www.w3.org/2000/svg";
function make(space, tag, attributes = {}, ...children) {
  const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}
const svg = (tag, attributes, ...children) => make(SVG, tag, attributes, ...children);
const html = (tag, attributes, ...children) => make(null, tag, attributes, ...children);
const markOf = status => MARKS.statuses[status] || { ...MARKS.unknown, word: status };
const typeOf = type => MARKS.types[type] || { word: type || "No type", path: MARKS.types.SIMPLE.path };
const colour = tone => `--c: var(--${tone})`;
const icon = path => svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path }));
const strokes = shape => MARKS.shapes[shape].map(([role, d, dash]) => svg("path", { class: `stroke-${role}`, d, "stroke-dasharray": dash || null }));
const glyph = shape => svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, strokes(shape));
const label = (x, y, kind, text, anchor) => svg("text", { x, y, class: kind, "text-anchor": anchor }, text);
const statusMark = (status, text) => html("span", { class: "status", style: colour(markOf(status).tone) }, glyph(markOf(status).shape), text ?? markOf(status).word);

function shortened(text, limit) {
  if (text.length <= limit) return text;
  const head = Math.floor(limit / 2), tail = limit - 1 - head;
  return text.slice(0, head) + "…" + (tail > 0 ? text.slice(-tail) : "");
}
const cut = (text, limit) => (text.length <= limit ? text : text.slice(0, Math.max(limit - 1, 0)).trimEnd() + "…");

function rounded(points, radius) {
  let way = `M${points[0]}`;
  const last = points.length - 2;
  for (let i = 1; i <= last; i++) {
    const towards = (to, share) => {
      const [x, y] = points[i], [tx, ty] = points[to], length = Math.abs(tx - x) + Math.abs(ty - y) || 1;
      const part = Math.min(radius, length / share) / length;
      return [x + (tx - x) * part, y + (ty - y) * part];
    };
    way += `L${towards(i - 1, i === 1 ? 1 : 2)}Q${points[i]} ${towards(i + 1, i === last ? 1 : 2)}`;
  }
  return way + `L${points.at(-1)}`;
}

const titleOf = node => node.ref || node.name || "unnamed";
const UI = { fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10", plus: "M8 3.5v9M3.5 8h9", minus: "M3.5 8h9" };

// What stands beside or on a node: its state, mark and second line; `opened` says that a fan's children are nodes.
const DRAWERS = { loop: drawLoop, fan: drawFan, fork: drawBar, join: drawBar, switch: drawDiamond };

function drawNode(node, look, name) {
  const { state, mark } = look, change = state.change && MARKS.changes[state.change];
  const kinds = ["node", `kind-${node.kind}`, mark.bad && "bad", state.away && "away", change && `change-${state.change}`];
  const bar = node.kind === "fork" || node.kind === "join";
  if (bar && state.status && !["COMPLETED", "COMPLETED_WITH_ERRORS"].includes(state.status)) kinds.push("open");
  if (node.kind === "fan" && !node.children.length) kinds.push("unsure");
  return svg("g", { class: kinds.filter(Boolean).join(" "), style: colour(change ? change.tone : mark.tone), id: `node-${node.index}`, role: "button",
    "aria-label": name, "data-id": node.id, "data-status": state.status || null }, svg("title", {}, name), (DRAWERS[node.kind] || drawCard)(node, look).filter(Boolean));
}

function drawCard(node, { state, mark, note, kind }) {
  const { x, y, w, h } = node, double = node.type === "SUB_WORKFLOW" || node.kind === "fold";
  const taken = state.badge ? state.badge.length * 6 + 10 : state.status ? 26 : 6;
  const room = Math.floor((w - 38 - taken) / 5.9);
  const top = state.badge ? [5, 0.86] : [h / 2 - 7, 1];
  return [
    svg("rect", { class: "body", x: x + 0.5, y: y + 0.5, width: w - 1, height: h - 1, rx: 6 }),
    double && svg("rect", { class: "inner", x: x + 3.5, y: y + 3.5, width: w - 7, height: h - 7, rx: 3.5 }),
    state.status && svg("path", { class: "side", d: `M${x + 6} ${y}a6 6 0 0 0-6 6v${h - 12}a6 6 0 0 0 6 6h-2.5v-${h}z` }),
    svg("path", { class: "type", transform: `translate(${x + 13},${y + h / 2 - 8})`, d: typeOf(node.type).path }),
    label(x + 38, y + 16, "ref", shortened(titleOf(node), state.status ? 18 : 20)),
    label(x + 38, y + 30, "meta", cut(note, room)),
    state.badge && label(x + w - 9, y + 30, "badge", state.badge, "end"),
    state.status && kind === "execution" && svg("g", { transform: `translate(${x + w - 22},${y + top[0]}) scale(${top[1]})` }, strokes(mark.shape)),
  ];
}

function drawBar(node, { note }) {
  return [
    svg("rect", { class: "hit", x: node.x, y: node.y - 5, width: node.w, height: node.h + 10 }),
    svg("rect", { class: "bar", x: node.x, y: node.y, width: node.w, height: node.h, rx: 2 }),
    ...beside(node, note),
  ];
}

function drawDiamond(node) {
  const r = node.w / 2 + 1, axis = node.x + node.w / 2;
  return [svg("path", { class: "body diamond", d: `M${axis} ${node.y - 1}l${r} ${r}-${r} ${r}-${r}-${r}z` }), ...beside(node, "")];
}

function beside(node, note) {
  const [x, y] = node.label, ref = shortened(titleOf(node), Math.max(4, Math.floor(node.room / 7.3)));
  const after = ref.length * 7.3 + 7, fits = note && after + note.length * 6.1 < node.room;
  return [label(x, y, "ref", ref, node.leftwards ? "end" : null), fits ? label(x + after, y, "meta", note) : null];
}

function drawLoop(node, { state }) {
  const ref = shortened(titleOf(node), 22), start = node.x + 29 + ref.length * 7.3 + 7, squares = state.squares || [];
  let room = node.x + node.w - 12 - start;
  const shown = Math.max(0, Math.min(squares.length, 12, Math.floor(room / 13)));
  const more = squares.length > shown ? `+${squares.length - shown}` : "";
  room -= shown * 13 + more.length * 7;
  const right = node.x + node.w - 9;
  return [
    svg("rect", { class: "frame", x: node.x, y: node.y, width: node.w, height: node.h, rx: 8 }),
    svg("path", { class: "type", transform: `translate(${node.x + 9},${node.y + 5}) scale(.9)`, d: typeOf("DO_WHILE").path }),
    label(node.x + 29, node.y + 17, "ref", ref),
    node.detail && room > 40 ? label(start, node.y + 17, "meta", cut(node.detail, Math.floor(room / 6.1))) : null,
    more && room > 0 ? label(right - 13 * shown - 4, node.y + 17, "meta", more, "end") : null,
    ...squares.slice(squares.length - shown).map((status, i) => square(right - 13 * (shown - i), node.y + 8, status)),
  ];
}

function square(x, y, status) {
  return svg("rect", { class: "square", style: colour(markOf(status).tone), x, y, width: 10, height: 10, rx: 2 }, svg("title", {}, markOf(status).word));
}

function drawFan(node, { state, opened }) {
  const box = svg("rect", { class: "frame", x: node.x, y: node.y, width: node.w, height: node.h, rx: 8 });
  const note = (state.squares || []).length ? state.note : node.detail;
  if (!node.children.length) return [box, label(node.x + node.w / 2, node.y + 23, "meta", note, "middle")];
  const title = label(node.x + 14, node.y + 17, "meta", node.detail);
  if (opened) return [box, title];
  const squares = state.squares || [], most = 240;
  const counted = Object.entries(state.counts || {}).map(([status, count]) => `${count} ${markOf(status).word.toLowerCase()}`).join(", ");
  const rest = squares.length > most ? `, first ${most} drawn` : "";
  return [box, title, label(node.x + 14, node.y + 35, "meta", cut(counted + rest, 50)),
    ...squares.slice(0, most).map((status, i) => square(node.x + 14 + (i % 24) * 13, node.y + 48 + Math.floor(i / 24) * 13, status))];
}

const drawTerm = (node, away) => svg("circle", { class: `term ${away ? "away" : ""}`, cx: node.x + 6, cy: node.y + 6, r: 5.5 });

function drawCorner(node, mark, words) {
  return svg("g", { class: "corner", style: colour(mark.tone), transform: `translate(${node.x + node.w - 9},${node.y - 6})` }, svg("title", {}, words),
    svg("rect", { class: "paper", x: -1, y: -1, width: 16, height: 16, rx: 4 }), strokes(mark.shape));
}

function drawLine(edge, kind) {
  const points = edge.points.map(point => [...point]), [x, y] = points.at(-1);
  if (edge.arrow) points.at(-1)[1] -= 4;
  const head = edge.arrow ? svg("path", { class: "head", d: `M${x} ${y}l-4 -6h8z` }) : null;
  return svg("g", { class: `edge ${kind}`, "data-edge": edge.id }, svg("path", { d: rounded(points, edge.back ? 6 : 8) }), head);
}

function drawCase(edge, kind, note) {
  const text = cut(note ? `${edge.case} ${note}` : edge.case, Math.max(3, Math.floor((edge.room - 8) / 6.1)));
  const width = text.length * 6.1 + 10, [x, y] = edge.label;
  return svg("g", {}, svg("title", {}, edge.case), svg("rect", { class: "pill", x: x - width / 2, y: y - 8, width, height: 16, rx: 3 }), label(x, y + 4, `case ${kind}`, text, "middle"));
}

function drawPlus(edge, name) {
  const [x, y] = edge.plus;
  return svg("g", { class: "plus", tabindex: "0", role: "button", transform: `translate(${x},${y})`, "data-edge": edge.id, "aria-haspopup": "menu", "aria-label": name },
    svg("circle", { class: "reach", r: 11 }), svg("circle", { class: "disc", r: 6.5 }), svg("path", { class: "sign", d: "M-3 0h6M0 -3v6" }));
}
