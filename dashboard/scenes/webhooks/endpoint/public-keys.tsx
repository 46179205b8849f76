import { useQuery } from '@tanstack/react-query';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { Copy } from '../../../components/shown/copy.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { signingKeysQuery } from '../queries.ts';

/** The keys by which a receiver verifies `v1a` signatures. */
export function PublicKeys() {
  const keys = useQuery(signingKeysQuery);
  if (keys.isError) return <ProblemNote error={keys.error} onRetry={() => void keys.refetch()} />;
  if (keys.data === undefined) return null;
  return (
    <span className="grid justify-items-start gap-1">
      {keys.data.keys.map(({ id, publicKey, expiresAt }) => (
        <span key={id} className="grid justify-items-start">
          <code className="font-mono text-[13px] break-all">{publicKey}</code>
          {expiresAt === null ? null : (
            <span className="text-muted">
              ends <Time value={expiresAt} />
            </span>
          )}
          <span className="-ml-3">
            <Copy text={publicKey} what="public key" />
          </span>
        </span>
      ))}
      <a href={keys.data.keySetUrl} target="_blank" rel="noreferrer">
        Key set (JWKS)
      </a>
    </span>
  );
}
