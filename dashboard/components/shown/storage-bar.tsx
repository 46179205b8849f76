import { byteSize } from './byte-size.ts';

/** From here on the bar warns. */
const NEARLY_FULL = 0.9;

/** How full a mailbox is, in words and as a bar. */
export function StorageBar({ usedBytes, limitBytes }: { readonly usedBytes: number; readonly limitBytes: number }) {
  const text = `${byteSize(usedBytes)} of ${byteSize(limitBytes)}`;
  const share = limitBytes === 0 ? 0 : Math.min(1, usedBytes / limitBytes);
  return (
    <div className="grid gap-1">
      <span>{text}</span>
      <div
        role="meter"
        aria-label="Storage used"
        aria-valuemin={0}
        aria-valuemax={limitBytes}
        aria-valuenow={Math.min(usedBytes, limitBytes)}
        aria-valuetext={text}
        className="h-1.5 overflow-hidden rounded-full bg-line"
      >
        <div
          className={`h-full rounded-full ${share >= NEARLY_FULL ? 'bg-stop' : 'bg-accent'}`}
          style={{ width: `${Math.ceil(share * 100)}%` }}
        />
      </div>
    </div>
  );
}
