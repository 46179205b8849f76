import { useMutation, useQuery } from '@tanstack/react-query';
import { Paperclip, Trash2, X } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Button, buttonClass } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/page.tsx';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { byteSize } from '../../../components/shown/byte-size.ts';
import { Time } from '../../../components/shown/time.tsx';
import { focusWhenShown } from '../list/keys.tsx';
import { type Draft, type DraftChanges, deleteDraft, draftQuery, type Sent, saveDraft, sendDraft } from '../queries.ts';
import { attachmentsOf, type DraftFile, FILES_MAX_BYTES, fileOf, filesOf, withContent } from './drafts.ts';

interface ComposeProps {
  readonly mailboxId: string;
  readonly draftId: string;
  readonly onSent: (sent: Sent) => void;
  readonly onClose: () => void;
}

/** A draft that is written: kept by the service every few seconds, so that it is in every mail client too. */
export function Compose({ mailboxId, draftId, onSent, onClose }: ComposeProps) {
  const draft = useQuery(draftQuery(mailboxId, draftId));
  return (
    <section aria-label="Draft" aria-busy={draft.isPending} className="grid min-w-0 content-start gap-3">
      {draft.isError ? (
        <>
          <ProblemNote error={draft.error} />
          <Button className="justify-self-start" onClick={onClose}>
            Close
          </Button>
        </>
      ) : null}
      {draft.data === undefined ? null : (
        <Editor key={draftId} mailboxId={mailboxId} draft={draft.data} onSent={onSent} onClose={onClose} />
      )}
    </section>
  );
}

const LINE =
  'h-8 min-w-0 flex-1 bg-transparent outline-none placeholder:text-faint max-sm:h-11 max-sm:text-base focus-visible:outline-none';

/** Addresses as people type them. A comma within quotes belongs to a name. */
const addressesOf = (text: string): string[] =>
  (text.match(/(?:"[^"]*"|[^,;"])+/g) ?? []).map((each) => each.trim()).filter((each) => each !== '');
/** One that is still being typed would be refused. */
const isWhole = (address: string): boolean => /[^\s@]@[^\s@]+\.[^\s@.]/.test(address);

interface EditorProps extends Omit<ComposeProps, 'draftId'> {
  readonly draft: Draft;
}

function Editor({ mailboxId, draft, onSent, onClose }: EditorProps) {
  const saver = useDraftSaver(mailboxId, draft);
  const [copies, setCopies] = useState(draft.cc.length > 0 || draft.bcc.length > 0);
  const [hasHtml, setHasHtml] = useState(draft.html !== null);
  const fields = useRef({ to: draft.to.join(', '), cc: draft.cc.join(', '), bcc: draft.bcc.join(', ') });
  const touched = useRef(false);
  const [beginsAt] = useState(draft.to.length === 0 ? 'to' : 'text');

  const send = useMutation({
    mutationFn: async () => {
      // All of them, also addresses that look unfinished: the service reports what is wrong with them.
      const { to, cc, bcc } = fields.current;
      saver.change({ to: addressesOf(to), cc: addressesOf(cc), bcc: addressesOf(bcc) });
      await saver.flush();
      return sendDraft(mailboxId, draft.id);
    },
    onSuccess: (sent) => {
      saver.stop();
      onSent(sent);
    },
  });
  const discard = useMutation({
    mutationFn: () => {
      saver.stop();
      return deleteDraft(mailboxId, draft.id);
    },
    onSuccess: onClose,
  });

  function typed(name: 'to' | 'cc' | 'bcc', text: string): void {
    touched.current = true;
    fields.current[name] = text;
    const addresses = addressesOf(text);
    if (addresses.every(isWhole)) saver.change({ [name]: addresses });
  }

  /** Leaves no empty draft behind. */
  function close(): void {
    const isEmpty = draft.subject === '' && draft.to.length === 0 && (draft.text ?? '').trim() === '';
    if (isEmpty && !touched.current) discard.mutate();
    else onClose();
  }

  const recipients = (name: 'to' | 'cc' | 'bcc', label: string, more?: ReactNode) => (
    <Line label={label} id={`${draft.id}-${name}`}>
      <input
        id={`${draft.id}-${name}`}
        defaultValue={fields.current[name]}
        autoComplete="off"
        spellCheck={false}
        ref={name === 'to' && beginsAt === 'to' ? focusWhenShown : undefined}
        onChange={({ target }) => typed(name, target.value)}
        className={LINE}
      />
      {more}
    </Line>
  );

  return (
    <form
      className="grid min-w-0 gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send.mutate();
        else if (event.key === 'Escape') close();
      }}
    >
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 flex-1">{draft.inReplyTo === null ? 'New message' : 'Reply'}</h2>
        <Saved state={saver.state} />
        <Button look="quiet" aria-label="Close" onClick={close}>
          <X size={16} aria-hidden />
        </Button>
      </div>
      <div className="min-w-0 rounded-lg border border-line bg-panel focus-within:border-line-strong">
        {recipients(
          'to',
          'To',
          copies ? null : (
            <button type="button" className="shrink-0 text-muted hover:text-text" onClick={() => setCopies(true)}>
              Cc, Bcc
            </button>
          ),
        )}
        {copies ? recipients('cc', 'Cc') : null}
        {copies ? recipients('bcc', 'Bcc') : null}
        <Line label="Subject" id={`${draft.id}-subject`}>
          <input
            id={`${draft.id}-subject`}
            defaultValue={draft.subject}
            maxLength={998}
            onChange={({ target }) => {
              touched.current = true;
              saver.change({ subject: target.value });
            }}
            className={LINE}
          />
        </Line>
        <textarea
          aria-label="Text"
          defaultValue={draft.text ?? ''}
          ref={beginsAt === 'text' ? focusWhenShown : undefined}
          onChange={({ target }) => {
            touched.current = true;
            setHasHtml(false);
            saver.change({ text: target.value, ...(draft.html === null ? {} : { html: null }) });
          }}
          className="block min-h-72 w-full resize-y bg-transparent p-3 leading-[22px] outline-none focus-visible:outline-none max-sm:text-base"
        />
      </div>
      {hasHtml ? (
        <p className="text-muted">
          This draft has formatting of another mail client. Changing its text here removes it.
        </p>
      ) : null}
      <Files draft={draft} saver={saver} onTouch={() => (touched.current = true)} />
      <ProblemNote error={send.error ?? discard.error} />
      <div className="flex items-center gap-2">
        <Button type="submit" look="primary" busy={send.isPending}>
          Send
        </Button>
        <span className="flex-1 text-muted max-sm:hidden">Ctrl+Enter sends</span>
        <Button look="stop" busy={discard.isPending} onClick={() => discard.mutate()}>
          <Trash2 size={16} aria-hidden /> Discard
        </Button>
      </div>
    </form>
  );
}

function Line({ label, id, children }: { readonly label: string; readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="flex min-w-0 items-center gap-3 border-b border-line px-3">
      <label htmlFor={id} className="w-14 shrink-0 text-muted">
        {label}
      </label>
      {children}
    </div>
  );
}

function Saved({ state }: { readonly state: SaveState }) {
  return (
    <span role="status" className={state.kind === 'failed' ? 'text-stop' : 'text-muted'}>
      {state.kind === 'dirty' || state.kind === 'saving' ? 'Saving…' : null}
      {state.kind === 'saved' ? (
        <>
          Saved <Time value={state.at} />
        </>
      ) : null}
      {state.kind === 'failed'
        ? `Not saved: ${state.error instanceof Error ? state.error.message : 'try again'}`
        : null}
    </span>
  );
}

interface FilesProps {
  readonly draft: Draft;
  readonly saver: ReturnType<typeof useDraftSaver>;
  readonly onTouch: () => void;
}

function Files({ draft, saver, onTouch }: FilesProps) {
  const [files, setFiles] = useState<readonly DraftFile[]>(() => filesOf(draft));
  const input = useRef<HTMLInputElement>(null);
  const [tooLarge, setTooLarge] = useState(false);
  const change = useMutation({
    mutationFn: async (next: readonly DraftFile[]) => {
      const whole = await withContent(saver.saved(), next);
      setFiles(whole);
      saver.change({ attachments: attachmentsOf(whole) });
      await saver.flush();
    },
  });

  async function add(chosen: FileList | null): Promise<void> {
    if (chosen === null || chosen.length === 0) return;
    onTouch();
    const size = [...files.map(({ sizeBytes }) => sizeBytes), ...[...chosen].map((file) => file.size)];
    const fits = size.reduce((sum, each) => sum + each, 0) <= FILES_MAX_BYTES;
    setTooLarge(!fits);
    if (fits) change.mutate([...files, ...(await Promise.all([...chosen].map(fileOf)))]);
    if (input.current !== null) input.current.value = '';
  }

  return (
    <div className="grid gap-2">
      {files.length === 0 ? null : (
        <ul aria-label="Attached files" className="flex flex-wrap gap-2">
          {files.map((file) => (
            <li
              key={file.key}
              className="flex max-w-full min-w-0 items-center gap-2 rounded-md border border-line py-1 pr-1 pl-3"
            >
              <span className="max-w-64 min-w-0 truncate">
                <ForeignText text={file.filename} max={255} />
              </span>
              <span className="shrink-0 text-muted">{byteSize(file.sizeBytes)}</span>
              <Button
                look="quiet"
                aria-label="Remove file"
                busy={change.isPending}
                onClick={() => change.mutate(files.filter(({ key }) => key !== file.key))}
              >
                <X size={14} aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div>
        <label className={buttonClass('quiet', 'cursor-pointer focus-within:outline-2 focus-within:outline-accent')}>
          <Paperclip size={16} aria-hidden /> {change.isPending ? 'Attaching…' : 'Attach files'}
          <input
            ref={input}
            type="file"
            multiple
            className="sr-only"
            onChange={({ target }) => void add(target.files)}
          />
        </label>
      </div>
      {tooLarge ? (
        <p role="alert" className="text-stop">
          The files are larger than a message may be: {byteSize(FILES_MAX_BYTES)} together.
        </p>
      ) : null}
      <ProblemNote error={change.error} />
    </div>
  );
}

/** A draft is saved when nothing was typed for so long. */
const SAVE_AFTER_MS = 2_000;

type SaveState =
  | { readonly kind: 'clean' }
  | { readonly kind: 'dirty' }
  | { readonly kind: 'saving' }
  | { readonly kind: 'saved'; readonly at: string }
  | { readonly kind: 'failed'; readonly error: unknown };

interface DraftSaver {
  readonly state: SaveState;
  /** The draft as it was saved last. */
  readonly saved: () => Draft;
  /** Notes what was changed; it is saved soon. */
  change(change: DraftChanges): void;
  /** Saves what was changed. @throws what the service refused */
  flush(): Promise<void>;
  /** Saves nothing any more: the draft is sent or deleted. */
  stop(): void;
}

/** Saves a draft while it is written, one save after another: two at once would be a conflict. */
function useDraftSaver(mailboxId: string, draft: Draft): DraftSaver {
  const [state, setState] = useState<SaveState>({ kind: 'clean' });
  const latest = useRef(draft);
  const changes = useRef<DraftChanges>({});
  const queue = useRef<Promise<void>>(Promise.resolve());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stopped = useRef(false);

  const save = useCallback(async () => {
    const body = changes.current;
    if (stopped.current || Object.keys(body).length === 0) return;
    changes.current = {};
    setState({ kind: 'saving' });
    try {
      latest.current = await saveDraft(mailboxId, draft.id, body);
      setState(
        Object.keys(changes.current).length === 0 ? { kind: 'saved', at: latest.current.updatedAt } : { kind: 'dirty' },
      );
    } catch (error) {
      // What was typed meanwhile is newer.
      changes.current = { ...body, ...changes.current };
      setState({ kind: 'failed', error });
      throw error;
    }
  }, [mailboxId, draft.id]);

  const flush = useCallback(() => {
    clearTimeout(timer.current);
    queue.current = queue.current.catch(() => {}).then(save);
    return queue.current;
  }, [save]);

  const change = useCallback(
    (more: DraftChanges) => {
      changes.current = { ...changes.current, ...more };
      setState({ kind: 'dirty' });
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void flush().catch(() => {}), SAVE_AFTER_MS);
    },
    [flush],
  );

  // Leaving the form, or the tab, loses nothing.
  useEffect(() => {
    const save = () => void flush().catch(() => {});
    addEventListener('pagehide', save);
    return () => {
      removeEventListener('pagehide', save);
      save();
    };
  }, [flush]);

  return {
    state,
    saved: () => latest.current,
    change,
    flush,
    stop() {
      stopped.current = true;
      clearTimeout(timer.current);
    },
  };
}
