import { ImageOff } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { type FrameWindow, safeMail, type TooComplex, type WaitingPicture } from '../../mail-html/safe-mail.ts';
import { Button } from '../frame/button.tsx';
import { ForeignText } from './foreign-text.tsx';

const FRAME_PATH = '/mail-frame';
const HEIGHT_MIN_PX = 48;
/** A longer mail scrolls within its frame. */
const HEIGHT_MAX_PX = 12_000;
/** Pictures that are fetched at the same time. */
const FETCHES_AT_ONCE = 4;
const REMOTE_PICTURES_MAX = 200;

/** Keeps styles of the mail within its frame and makes pictures that are missing seen. */
const OWN_STYLE = `
  html { color-scheme: light; background: #fff; overflow: auto; }
  body { margin: 0; padding: 16px; font: 14px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: #1b1b19; overflow-wrap: anywhere; }
  img { max-width: 100%; }
  img:not([src]) { background: #f4f4f2; outline: 1px dashed #cfcfca; outline-offset: -1px; }
  blockquote { margin: 0 0 0 8px; padding-left: 12px; border-left: 2px solid #e4e4e0; }
  pre { white-space: pre-wrap; }
  table { max-width: 100%; }
`;

const REFUSED: Readonly<Record<TooComplex, string>> = {
  'too-long': 'The HTML of this message is too long to be shown. This is its text.',
  'too-many-elements': 'The HTML of this message has too many elements to be shown. This is its text.',
  'too-deep': 'The HTML of this message is nested too deeply to be shown. This is its text.',
  'too-many-attributes': 'The HTML of this message has too many attributes to be shown. This is its text.',
};

/** Finds one picture. @returns undefined when there is none */
type LoadPicture = (source: string) => Promise<Blob | undefined>;

export interface MailFrameProps {
  /** HTML as its sender wrote it. */
  readonly html: string;
  /** Shown instead of HTML that would keep the browser busy. */
  readonly text: string;
  /** Names the frame, for screen readers. */
  readonly title: string;
  /** A picture that is part of the message, by its Content-ID without brackets. */
  readonly loadPart?: LoadPicture | undefined;
  /** A picture elsewhere, by its address; called only after the person asked for it. Left out: cannot be asked for. */
  readonly loadRemote?: LoadPicture | undefined;
  /** Opens a new message to the address of a `mailto:` link. */
  readonly onCompose?: ((address: string) => void) | undefined;
}

/**
 * Untrusted HTML, in a frame that runs no script and loads nothing (`/mail-frame`). Pictures come as `blob:` from
 * this page: parts of the message at once, others when a person asks. Use `key` for another message.
 */
export function MailFrame({ html, text, title, loadPart, loadRemote, onCompose }: MailFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const latest = useRef({ loadPart, loadRemote, onCompose });
  latest.current = { loadPart, loadRemote, onCompose };
  const [ready, setReady] = useState(false);
  const [refusal, setRefusal] = useState<TooComplex>();
  const [height, setHeight] = useState(HEIGHT_MIN_PX);
  const [remote, setRemote] = useState<readonly WaitingPicture[]>([]);
  const [loading, setLoading] = useState<'no' | 'running' | 'done'>('no');
  const [missing, setMissing] = useState(0);
  const [pointedAt, setPointedAt] = useState<string>();
  const addresses = useRef<string[]>([]);

  useEffect(() => {
    const view = windowOf(frame.current);
    if (!ready || view === undefined) return undefined;
    const safe = safeMail(html, view);
    if (typeof safe === 'string') {
      setRefusal(safe);
      return undefined;
    }
    const style = view.document.createElement('style');
    style.textContent = `${OWN_STYLE}\n${safe.css}`;
    view.document.head.replaceChildren(style);
    view.document.body.replaceChildren(view.document.adoptNode(safe.content));
    const parts = safe.pictures.filter(({ kind }) => kind === 'cid');
    setRemote(safe.pictures.filter(({ kind }) => kind === 'remote').slice(0, REMOTE_PICTURES_MAX));
    setLoading('no');
    void showPictures(parts, latest.current.loadPart, addresses.current);
    const stopMeasuring = measured(view, setHeight);
    const stopListening = listened(view, setPointedAt, (address) => latest.current.onCompose?.(address));
    const made = addresses.current;
    return () => {
      stopMeasuring();
      stopListening();
      for (const address of made.splice(0)) URL.revokeObjectURL(address);
    };
  }, [html, ready]);

  async function loadPictures(): Promise<void> {
    setLoading('running');
    const shown = await showPictures(remote, loadRemote, addresses.current);
    setMissing(remote.length - shown);
    setLoading('done');
  }

  if (refusal !== undefined)
    return (
      <div className="grid gap-3">
        <p role="note" className="rounded-md bg-wait-soft px-3 py-2 text-wait">
          {REFUSED[refusal]}
        </p>
        <p className="break-words whitespace-pre-wrap">
          <ForeignText text={text} long max={text.length} />
        </p>
      </div>
    );
  return (
    <div className="grid min-w-0 gap-2">
      {remote.length > 0 ? (
        <div role="note" className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md bg-sunken px-3 py-1.5">
          <ImageOff size={16} aria-hidden className="text-muted" />
          <span className="min-w-0 flex-1 basis-60">{picturesNote(remote.length, loading, missing)}</span>
          {loading !== 'done' && loadRemote !== undefined ? (
            <Button busy={loading === 'running'} onClick={() => void loadPictures()}>
              Load pictures
            </Button>
          ) : null}
        </div>
      ) : null}
      <iframe
        ref={frame}
        title={title}
        src={FRAME_PATH}
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
        referrerPolicy="no-referrer"
        height={height}
        onLoad={() => setReady(true)}
        className="block w-full rounded-md bg-white"
      />
      <p aria-hidden className="h-5 truncate text-xs text-muted">
        {pointedAt}
      </p>
    </div>
  );
}

function picturesNote(count: number, loading: 'no' | 'running' | 'done', missing: number): string {
  const pictures = count === 1 ? 'One picture' : `${count} pictures`;
  if (loading !== 'done') return `${pictures} from elsewhere not loaded: loading tells the sender that you read this.`;
  if (missing > 0) return `${missing} of ${count} pictures could not be loaded.`;
  return `${pictures} loaded by the service, without your address and without cookies.`;
}

/** The window of the frame, once it holds our document; another page's would be refused to us. */
function windowOf(frame: HTMLIFrameElement | null): FrameWindow | undefined {
  if (frame === null || frame.contentDocument?.location.pathname !== FRAME_PATH) return undefined;
  // A whole window, because it is of our own origin; the type of `contentWindow` allows for others.
  return frame.contentWindow as FrameWindow;
}

/** @returns how many are shown now */
async function showPictures(
  pictures: readonly WaitingPicture[],
  load: LoadPicture | undefined,
  addresses: string[],
): Promise<number> {
  if (load === undefined) return 0;
  let shown = 0;
  const waiting = [...pictures];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const blob = await load(next.source).catch(() => undefined);
      if (blob === undefined) continue;
      const address = URL.createObjectURL(blob);
      addresses.push(address);
      next.element.src = address;
      shown++;
    }
  };
  await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, work));
  return shown;
}

/** Gives the frame the height of its content. */
function measured(view: FrameWindow, onHeight: (px: number) => void): () => void {
  const { body } = view.document;
  const measure = () => {
    // Room for a scroll bar at the bottom.
    const bar = body.scrollWidth > view.document.documentElement.clientWidth ? 16 : 0;
    onHeight(Math.min(HEIGHT_MAX_PX, Math.max(HEIGHT_MIN_PX, Math.ceil(body.getBoundingClientRect().height) + bar)));
  };
  const observer = new ResizeObserver(measure);
  observer.observe(body);
  return () => observer.disconnect();
}

/** Shows where a link leads, and lets the keys of the page work while the frame has the focus. */
function listened(
  view: FrameWindow,
  onPoint: (address: string | undefined) => void,
  onCompose: (address: string) => void,
): () => void {
  const linkOf = ({ target }: Event) =>
    target instanceof view.Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  const point = (event: Event) => onPoint(linkOf(event)?.href);
  const leave = () => onPoint(undefined);
  const click = (event: Event) => {
    const link = linkOf(event);
    if (link?.protocol !== 'mailto:') return;
    event.preventDefault();
    onCompose(decodeURIComponent(link.pathname.replace(/%(?![0-9a-f]{2})/gi, '%25')));
  };
  const key = (event: KeyboardEvent) => {
    const { key: name, ctrlKey, metaKey, altKey, shiftKey } = event;
    dispatchEvent(new KeyboardEvent('keydown', { key: name, ctrlKey, metaKey, altKey, shiftKey }));
  };
  const target = view.document;
  target.addEventListener('mouseover', point);
  target.addEventListener('focusin', point);
  target.addEventListener('mouseleave', leave);
  target.addEventListener('click', click);
  target.addEventListener('keydown', key);
  return () => {
    target.removeEventListener('mouseover', point);
    target.removeEventListener('focusin', point);
    target.removeEventListener('mouseleave', leave);
    target.removeEventListener('click', click);
    target.removeEventListener('keydown', key);
  };
}
