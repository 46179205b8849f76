import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { authHeaderPlace, signingKeyPlace, webhookSecretPlace } from '#core/webhooks/signing/webhook-secrets.ts';
import { type WebhookSigner, webhookSigner } from '#core/webhooks/signing/webhook-signature.ts';
import type { ReservedAttempt } from '#db/queries/deliveries/attempts.ts';

/** The opened secrets of endpoints, for the time of one run. */
export interface EndpointCredentials {
  /** @throws if a secret does not open */
  signer(attempt: ReservedAttempt): WebhookSigner;
  /** @throws if the secret does not open */
  authHeader(attempt: ReservedAttempt): { readonly name: string; readonly value: string } | undefined;
}

export function endpointCredentials(secrets: SealedSecrets): EndpointCredentials {
  const signers = new Map<string, WebhookSigner>();

  function signer(attempt: ReservedAttempt): WebhookSigner {
    const signingKeys = attempt.signingKeys ?? [];
    const key = [attempt.secretSealed, attempt.previousSecretSealed, ...signingKeys.map(([id]) => id)].join(' ');
    let known = signers.get(key);
    if (known === undefined) {
      const sealed = [attempt.secretSealed, attempt.previousSecretSealed].filter((each) => each !== null);
      const place = webhookSecretPlace(attempt.endpointId);
      known = webhookSigner(
        sealed.map((each) => secrets.open(each, place)),
        signingKeys.map(([id = '', privateKey = '']) => secrets.open(privateKey, signingKeyPlace(id))),
      );
      signers.set(key, known);
    }
    return known;
  }

  function authHeader(attempt: ReservedAttempt): { name: string; value: string } | undefined {
    const { authHeaderName: name, authHeaderValueSealed: sealed, endpointId } = attempt;
    if (name === null || sealed === null) return undefined;
    return { name, value: secrets.open(sealed, authHeaderPlace(endpointId)) };
  }

  return { signer, authHeader };
}
