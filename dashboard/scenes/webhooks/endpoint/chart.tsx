import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Schemas } from '../../../api/client.ts';

type Hour = Schemas['WebhookEndpointStats']['hours'][number];

const HEIGHT = 140;
const HOUR_S = 3_600;
/** Drawn one over the other: the whole first, in the end what was acknowledged. */
const LAYERS = ['exhausted', 'failed', 'pending', 'success'] as const;
const COLOURS = { exhausted: '--stop', failed: '--wait', pending: '--info', success: '--ok' } as const;

/** Bars of the last hours by outcome. The table below has the same figures for screen readers. */
export default function Chart({ hours }: { readonly hours: readonly Hour[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let plot = draw(element, hours);
    const again = () => {
      plot.destroy();
      plot = draw(element, hours);
    };
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    // The colours are those of the theme.
    const themed = new MutationObserver(again);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      plot.destroy();
    };
  }, [hours]);
  return <div ref={place} aria-hidden className="h-[140px] overflow-hidden" />;
}

function draw(element: HTMLElement, hours: readonly Hour[]): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = {
    stroke: colour('--muted'),
    font,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 32] });
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { range: (_, from, to) => [from - HOUR_S / 2, to + HOUR_S / 2] },
        y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 28, space: 56, values: (_, splits) => splits.map(hourOf) },
        {
          ...axis,
          size: 44,
          space: 32,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5],
        },
      ],
      series: [
        {},
        ...LAYERS.map((layer) => ({
          fill: colour(COLOURS[layer]),
          width: 0,
          points: { show: false },
          ...(bars === undefined ? {} : { paths: bars }),
        })),
      ],
    },
    [
      hours.map(({ from }) => new Date(from).getTime() / 1_000),
      ...LAYERS.map((_, i) => hours.map((hour) => LAYERS.slice(i).reduce((sum, layer) => sum + hour[layer], 0))),
    ],
    element,
  );
}

const hourOf = (seconds: number): string =>
  new Date(seconds * 1_000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
