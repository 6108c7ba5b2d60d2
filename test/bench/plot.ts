// A bench's findings as one self-contained SVG: bars for what was compared, lines for what changed over time.
import type { Figure, Findings, Series } from './findings.ts';

const width = 760;
const labelWidth = 190;
const barHeight = 16;
const chartHeight = 160;
const ours = '#2563eb';
const theirs = '#a1a1aa';
const ink = '#18181b';
const grey = 'fill="#71717a"';
const usualSides = ['ours', 'yardstick'] as const;

/** Draws the findings. */
export function plotOf({ bench, title, sides = usualSides, figures, series = [] }: Findings): string {
  const compared = figures.some(({ baseline }) => baseline !== undefined);
  const parts: string[] = [
    text(16, 28, bench, 'font-weight="600" font-size="15"'),
    text(16, 46, title),
    legend(66, compared ? sides : sides.slice(0, 1)),
  ];
  let y = 88;
  for (const figure of figures) {
    parts.push(bars(figure, y, scaleFor(figure, figures)));
    y += (figure.baseline === undefined ? barHeight : 2 * barHeight + 2) + 22;
  }
  for (const line of series) {
    parts.push(chart(line, y));
    y += chartHeight + 56;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" ` +
    `font-family="system-ui, sans-serif" font-size="12" fill="${ink}">` +
    `<rect width="100%" height="100%" fill="white"/>${parts.join('')}</svg>\n`;
}

function legend(y: number, sides: readonly string[]): string {
  const keys = sides.map((side, index) => {
    const x = 16 + index * 110;
    return box({ x, y: y - 9, wide: 10, high: 10, colour: index === 0 ? ours : theirs }) +
      text(x + 15, y, side);
  });
  return keys.join('') + text(16 + sides.length * 110, y, 'bar: median; whisker: least to greatest', grey);
}

/** Compared sides share a scale, and so do figures that stand alone with the same unit. */
function scaleFor(figure: Figure, all: readonly Figure[]): (value: number) => number {
  const kin = figure.baseline === undefined
    ? all.filter(({ unit, baseline }) => unit === figure.unit && baseline === undefined)
    : [figure];
  const most = Math.max(...kin.map(({ ours, baseline }) => Math.max(ours.max, baseline?.max ?? 0))) || 1;
  return (value) => (value / most) * (width - labelWidth - 130);
}

function bars(figure: Figure, y: number, scale: (value: number) => number): string {
  const { name, unit, ours: own, baseline, ratio, goal } = figure;
  const note = [
    ratio === undefined ? '' : `ratio ${short(ratio.median)}`,
    goal === undefined ? '' : `goal: ${goal.text}`,
  ]
    .filter((part) => part !== '').join('; ');
  const draw = (spread: Figure['ours'], top: number, colour: string) =>
    box({ x: labelWidth, y: top, wide: scale(spread.median), high: barHeight, colour }) +
    whisker(labelWidth + scale(spread.min), labelWidth + scale(spread.max), top + barHeight / 2) +
    text(labelWidth + scale(spread.max) + 8, top + 12, `${short(spread.median)} ${unit}`);
  const below = y + (baseline === undefined ? barHeight : 2 * barHeight + 2) + 12;
  return text(16, y + 12, name, 'font-weight="600"') + draw(own, y, ours) +
    (baseline === undefined ? '' : draw(baseline, y + barHeight + 2, theirs)) +
    (note === '' ? '' : text(labelWidth, below, note, goal?.reached === false ? 'fill="#dc2626"' : grey));
}

function whisker(from: number, to: number, y: number): string {
  return `<path d="M${fixed(from)} ${y}H${fixed(to)}M${fixed(from)} ${y - 4}v8M${fixed(to)} ${y - 4}v8" ` +
    `stroke="${ink}" fill="none"/>`;
}

function chart({ name, unit, points }: Series, y: number): string {
  const top = y + 24;
  const lastSecond = Math.max(...points.map(([second]) => second), 1);
  const most = Math.max(...points.map(([, value]) => value), 0) * 1.1 || 1;
  const x = (second: number) => labelWidth / 3 + (second / lastSecond) * (width - labelWidth / 3 - 24);
  const height = (value: number) => top + chartHeight - (value / most) * chartHeight;
  const path = points.map(([second, value], index) =>
    `${index === 0 ? 'M' : 'L'}${fixed(x(second))} ${fixed(height(value))}`
  ).join('');
  return text(16, y + 12, `${name}, ${unit}`, 'font-weight="600"') +
    `<path d="M${x(0)} ${top}V${top + chartHeight}H${x(lastSecond)}" stroke="${theirs}" fill="none"/>` +
    text(16, top + 10, short(most)) + text(16, top + chartHeight, '0') +
    text(x(lastSecond) - 30, top + chartHeight + 16, `${short(lastSecond)} s`) +
    `<path d="${path}" stroke="${ours}" stroke-width="2" fill="none"/>`;
}

function box(at: { x: number; y: number; wide: number; high: number; colour: string }): string {
  const { x, y, wide, high, colour } = at;
  return `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(wide)}" height="${high}" fill="${colour}"/>`;
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${fixed(x)}" y="${fixed(y)}" ${attributes}>${escaped}</text>`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}

function short(value: number): string {
  return Math.abs(value) >= 1_000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}
