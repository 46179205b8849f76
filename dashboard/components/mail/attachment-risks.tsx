import { TriangleAlert } from 'lucide-react';

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

export type AttachmentRisk = keyof typeof RISKS;

/** Why a file may harm, beside its name. */
export function AttachmentRisks({ risks }: { readonly risks: readonly AttachmentRisk[] }) {
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
