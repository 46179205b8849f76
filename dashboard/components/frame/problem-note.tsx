import { Problem } from '../../problem.ts';
import { Button } from './button.tsx';
import { movesContent } from './shift-guard.ts';

/** What went wrong and what to do, in the service's own words. */
export function ProblemNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error === null || error === undefined) return null;
  const problem = error instanceof Problem ? error : undefined;
  return (
    <div ref={movesContent} role="alert" className="rounded-lg border border-stop/40 bg-stop-soft px-4 py-3">
      <p className="font-medium text-stop">{problem?.message ?? 'Something went wrong on this page.'}</p>
      <p>{problem?.fix ?? 'Reload it. If that does not help, tell the operator of the service.'}</p>
      {(problem?.details.length ?? 0) > 0 ? (
        <ul className="mt-1 list-disc pl-5">
          {problem?.details.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code className="font-mono text-[13px]">{path}</code> {message}
            </li>
          ))}
        </ul>
      ) : null}
      {problem?.requestId === undefined ? null : (
        <p className="mt-1 text-muted">
          Request <code className="font-mono text-[13px]">{problem.requestId}</code>
        </p>
      )}
      {onRetry === undefined ? null : (
        <Button className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
