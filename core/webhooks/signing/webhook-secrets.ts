/** Places under which secrets of endpoints and signing keys are sealed (see `core/platform/secrets/sealed-secrets.ts`). */
export const webhookSecretPlace = (endpointId: string): string => `webhook_endpoints:secret:${endpointId}`;
export const authHeaderPlace = (endpointId: string): string => `webhook_endpoints:auth_header:${endpointId}`;
export const signingKeyPlace = (keyId: string): string => `webhook_signing_key:private_key:${keyId}`;
