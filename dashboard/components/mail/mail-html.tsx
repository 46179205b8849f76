import { lazy, Suspense } from 'react';
import { Skeleton } from '../frame/page.tsx';
import type { MailFrameProps } from './mail-frame.tsx';

// What makes a stranger's HTML safe is a third of a page's own script: loaded with the first message that has HTML.
const MailFrame = lazy(async () => ({ default: (await import('./mail-frame.tsx')).MailFrame }));

/** Untrusted HTML, in its frame. Use `key` for another message. */
export function MailHtml(props: MailFrameProps) {
  return (
    <Suspense fallback={<Skeleton />}>
      <MailFrame {...props} />
    </Suspense>
  );
}

/** Formats that a browser decodes without running anything of them. */
export const PICTURES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);
