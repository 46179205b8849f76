import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonClass } from './button.tsx';

interface DialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: string | undefined;
  readonly children: ReactNode;
  /** What is open must not be lost by a click beside it: a secret that is shown once. */
  readonly keep?: boolean;
}

/** A question or a form above the page, as long as it is rendered. Focus goes into it and returns. */
export function Dialog({ onClose, title, description, children, keep = false }: DialogProps) {
  return (
    <Base.Root
      open
      disablePointerDismissal={keep}
      onOpenChange={(next, details) => {
        if (next || (keep && details.reason === 'escape-key')) return;
        onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 bg-black/40" />
        <Base.Popup className="fixed top-[8vh] left-1/2 grid max-h-[84vh] w-[min(560px,calc(100vw-24px))] -translate-x-1/2 gap-4 overflow-auto rounded-lg border border-line bg-panel p-5">
          <div className="flex items-start gap-3">
            <div className="flex-1">
              <Base.Title className="text-[16px] leading-6 font-semibold">{title}</Base.Title>
              {description === undefined ? null : (
                <Base.Description className="text-muted">{description}</Base.Description>
              )}
            </div>
            <Base.Close aria-label="Close" className={buttonClass('quiet')}>
              <X size={16} aria-hidden />
            </Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
