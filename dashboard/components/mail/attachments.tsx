import { Download, Eye, Paperclip, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../frame/button.tsx';
import { ProblemNote } from '../frame/page.tsx';
import { byteSize } from '../shown/byte-size.ts';
import { saveFile } from '../shown/save-file.ts';
import { PICTURES } from './mail-html.tsx';
import { visibleText } from './unseen-characters.ts';

interface Attachment {
  readonly id: string;
  readonly filename: string | null;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly risks: readonly AttachmentRisk[];
}

const TEXTS = new Set(['text/plain', 'text/csv', 'text/markdown', 'text/calendar', 'application/json']);
const PREVIEW_TEXT_BYTES = 64 * 1_024;
const PDF = 'application/pdf';
/** How a PDF begins (ISO 32000-1 §7.5.2). */
const PDF_BEGINS = '%PDF-';

type Preview =
  | { readonly picture: string }
  | { readonly pdf: string }
  | { readonly text: string }
  /** Its content type is that of a PDF, but its bytes are not. */
  | 'not-a-pdf';

/** A PDF is shown by the browser's own viewer, a process without access to this page; without one it is not shown. */
const previewable = (type: string): boolean =>
  PICTURES.has(type) || TEXTS.has(type) || (type === PDF && navigator.pdfViewerEnabled);

const addressOf = (preview: Preview | undefined): string | undefined => {
  if (typeof preview !== 'object') return undefined;
  if ('picture' in preview) return preview.picture;
  return 'pdf' in preview ? preview.pdf : undefined;
};

async function previewOf(content: Blob, type: string): Promise<Preview> {
  // By this type and no other: nothing in the bytes makes a page of them.
  const address = () => URL.createObjectURL(new Blob([content], { type }));
  if (PICTURES.has(type)) return { picture: address() };
  if (type !== PDF) return { text: await content.slice(0, PREVIEW_TEXT_BYTES).text() };
  return (await content.slice(0, PDF_BEGINS.length).text()) === PDF_BEGINS ? { pdf: address() } : 'not-a-pdf';
}

/** The attachments of a message: a preview where that is safe, and a link to save each. */
export function Attachments({
  attachments,
  load,
}: {
  readonly attachments: readonly Attachment[];
  readonly load: (id: string) => Promise<Blob>;
}) {
  if (attachments.length === 0) return null;
  return (
    <ul aria-label="Attachments" className="grid gap-2">
      {attachments.map((attachment) => (
        <AttachmentRow key={attachment.id} attachment={attachment} load={load} />
      ))}
    </ul>
  );
}

function AttachmentRow({
  attachment,
  load,
}: {
  readonly attachment: Attachment;
  readonly load: (id: string) => Promise<Blob>;
}) {
  const { id, filename, sizeBytes } = attachment;
  const contentType = attachment.contentType.toLowerCase();
  const name = visibleText(filename ?? 'without a name');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [preview, setPreview] = useState<Preview>();
  useEffect(() => {
    const address = addressOf(preview);
    return () => {
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [preview]);
  const withContent = (use: (content: Blob) => void | Promise<void>) => {
    setBusy(true);
    setError(undefined);
    load(id)
      .then(use)
      .catch(setError)
      .finally(() => setBusy(false));
  };
  const show = async (content: Blob) => setPreview(await previewOf(content, contentType));
  return (
    <li className="grid gap-2 rounded-md border border-line px-3 py-1.5">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Paperclip size={16} aria-hidden className="text-muted" />
        <span className="min-w-0 flex-[1_1_180px] break-all">
          <bdi className="font-medium">{name}</bdi>{' '}
          <span className="inline-block max-w-full text-muted">
            {byteSize(sizeBytes)} · {contentType}
          </span>
          <span className="flex flex-wrap gap-1 empty:hidden">
            <AttachmentRisks risks={attachment.risks} />
          </span>
        </span>
        {previewable(contentType) ? (
          <Button
            look="quiet"
            busy={busy}
            aria-label={`${preview === undefined ? 'Preview' : 'Hide'} ${name}`}
            onClick={() => (preview === undefined ? withContent(show) : setPreview(undefined))}
          >
            <Eye size={16} aria-hidden /> {preview === undefined ? 'Preview' : 'Hide'}
          </Button>
        ) : null}
        <Button
          look="quiet"
          busy={busy}
          aria-label={`Download ${name}`}
          onClick={() => withContent((content) => saveFile(content, filename ?? 'attachment'))}
        >
          <Download size={16} aria-hidden /> Download
        </Button>
      </div>
      <ProblemNote error={error} />
      {preview === undefined ? null : <Shown preview={preview} name={name} />}
    </li>
  );
}

function Shown({ preview, name }: { readonly preview: Preview; readonly name: string }) {
  if (preview === 'not-a-pdf')
    return (
      <p role="alert" className="text-stop">
        This file is labelled as a PDF but is not one, so it is not shown.
      </p>
    );
  if ('picture' in preview)
    return <img src={preview.picture} alt={`Preview of ${name}`} className="max-h-96 max-w-full justify-self-start" />;
  if ('pdf' in preview)
    return (
      <iframe
        src={preview.pdf}
        title={`Preview of ${name}`}
        referrerPolicy="no-referrer"
        className="h-[70vh] w-full rounded-md border border-line"
      />
    );
  return (
    <pre
      tabIndex={0}
      aria-label={`Preview of ${name}`}
      className="max-h-72 overflow-auto rounded-md bg-sunken p-3 font-mono text-[13px] leading-5"
    >
      {visibleText(preview.text)}
    </pre>
  );
}

const RISKS = {
  program: ['Program', 'Runs when it is opened.'],
  macros: ['Macros', 'A document with a program in it.'],
  archive: ['Archive', 'What is in it is not seen from outside.'],
  html: ['Web page', 'Opened in a browser, it runs scripts or imitates a sign-in.'],
  svg: ['SVG', 'Opened in a browser, it runs scripts or imitates a sign-in.'],
  type_mismatch: ['Not what it says', 'Its content is not what its name or type says.'],
  double_extension: ['Double ending', 'Its name looks like that of another kind of file.'],
  text_direction: ['Reordered name', 'Its name has characters that show its parts in another order.'],
} as const;

type AttachmentRisk = keyof typeof RISKS;

/** Why a file may harm, beside its name. */
function AttachmentRisks({ risks }: { readonly risks: readonly AttachmentRisk[] }) {
  return risks.map((risk) => {
    const [label, sentence] = RISKS[risk];
    return (
      <span
        key={risk}
        title={sentence}
        className="inline-flex items-center gap-1 rounded bg-stop-soft px-1.5 text-xs leading-5 font-medium whitespace-nowrap text-stop"
      >
        <TriangleAlert size={12} aria-hidden /> {label}
        <span className="sr-only">: {sentence}</span>
      </span>
    );
  });
}
