import { useEffect, useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { Dialog } from '../../../components/frame/dialog.tsx';
import { ProblemNote } from '../../../components/frame/page.tsx';
import { byteSize } from '../../../components/shown/byte-size.ts';
import { saveFile } from '../../../components/shown/save-file.ts';
import { loadRaw, type Message } from '../queries.ts';

const SHOWN_MAX_BYTES = 200_000;

/** The message as it is stored. */
export function Source({ message, onClose }: { readonly message: Message; readonly onClose: () => void }) {
  const [raw, setRaw] = useState<{ readonly bytes: Blob; readonly text: string }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let gone = false;
    loadRaw(message.mailboxId, message.id)
      .then(async (bytes) => {
        const text = await bytes.slice(0, SHOWN_MAX_BYTES).text();
        if (!gone) setRaw({ bytes, text });
      })
      .catch((problem: unknown) => setError(problem));
    return () => {
      gone = true;
    };
  }, [message.mailboxId, message.id]);
  return (
    <Dialog onClose={onClose} title="Source">
      <ProblemNote error={error} />
      {raw === undefined ? null : (
        <>
          <pre
            // Scrolls, so the keyboard must reach it.
            tabIndex={0}
            aria-label="Source of the message"
            className="max-h-[56vh] overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-[12px] leading-[18px] break-all whitespace-pre-wrap"
          >
            {raw.text}
          </pre>
          <div className="flex flex-wrap items-center gap-3">
            <Button onClick={() => saveFile(raw.bytes, `${message.id}.eml`)}>Download</Button>
            <span className="text-muted">
              {byteSize(raw.bytes.size)}
              {raw.bytes.size > SHOWN_MAX_BYTES ? `, of which the first ${byteSize(SHOWN_MAX_BYTES)} are shown` : ''}
            </span>
          </div>
        </>
      )}
    </Dialog>
  );
}
