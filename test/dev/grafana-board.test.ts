/** The Grafana board: what it asks for exists, and each panel says what it shows. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { METRICS } from '#core/platform/log/metrics.ts';
import { boardFile } from '#dev/generate/grafana-board.ts';
import { everyRow } from '#test/support/every-row.ts';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

const fileOf = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const { panels } = JSON.parse(boardFile()) as { panels: readonly Panel[] };
const shown = panels.filter(({ type }) => type !== 'row');
const recorded = new Map(
  [...fileOf('deploy/prometheus/rules.yml').matchAll(/- record: (\S+)/g)].map(([, name = '']) => [name, ['objective']]),
);
const labelsOf = new Map<string, readonly string[]>(recorded);
for (const { name, type, labels } of METRICS) {
  const own = Object.keys(labels);
  if (type !== 'histogram') labelsOf.set(name, own);
  else for (const part of ['bucket', 'count', 'sum']) labelsOf.set(`${name}_${part}`, [...own, 'le']);
}
/** Every target has these. */
const OF_TARGETS = ['instance', 'job'];

test('deploy/grafana/board.json is what is generated (npm run generate)', () => {
  assert.equal(fileOf('deploy/grafana/board.json'), boardFile());
});

test('the panels of the board have different titles', () => {
  assert.ok(shown.length > 20);
  assert.equal(new Set(shown.map(({ title }) => title)).size, shown.length);
});

everyRow(
  'each panel has a unit, a sentence, and metrics and labels that exist',
  shown,
  ({ title }) => title,
  async ({ title, description, fieldConfig, targets }) => {
    assert.ok((fieldConfig?.defaults.unit ?? '').length > 0, 'unit');
    assert.match(description ?? '', /^[A-Z].{20,}\.$/, 'sentence');
    assert.ok(targets !== undefined && targets.length > 0, 'series');
    for (const { expr, legendFormat = '' } of targets) {
      const names = [...expr.matchAll(/\bagent_mailbox[\w:]+/g)].map(([name]) => name);
      assert.ok(names.length > 0 || /\b(?:up|process_\w+)\{/.test(expr), expr);
      const known = names.flatMap((name) => labelsOf.get(name) ?? assert.fail(`${title}: there is no ${name}`));
      const used = [
        ...[...expr.matchAll(/\b(?:by|on|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
        ...[...expr.matchAll(/[{,]\s*(\w+)!?=~?"/g)].map(([, label = '']) => label),
        ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
      ];
      for (const label of used) assert.ok([...known, ...OF_TARGETS].includes(label), `${label} of ${expr}`);
      for (const [, name = '', label = '', value = ''] of expr.matchAll(
        /\b(agent_mailbox_\w+)\{[^}]*?\b(\w+)!?="([^"$]*)"/g,
      )) {
        const values = METRICS.find((each) => each.name === name)?.labels[label] ?? [];
        assert.ok(values.length === 0 || values.includes(value), `${name} has no ${label} ${value}`);
      }
    }
  },
);

test('no panels lie on each other', () => {
  const taken = new Set<string>();
  for (const { gridPos, title } of panels)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(x < 24 && !taken.has(`${x} ${y}`), title);
        taken.add(`${x} ${y}`);
      }
});
