/** What a browser does with passkeys (WebAuthn). Loaded when a person uses one. */
import { bodyOf, Problem, type Schemas, service } from './client.ts';

export type PasskeyAssertion = Schemas['PasskeyAssertion'];
type Registration = Schemas['PasskeyRegistration'];

/** What went wrong in the browser, in words for the person. */
const refused = (message: string, fix: string): Problem => new Problem(0, { code: 'passkey', message, fix });

const explained = (error: unknown): unknown => {
  if (!(error instanceof DOMException)) return error;
  if (error.name === 'InvalidStateError')
    return refused('This device has a passkey of your account already.', 'Use that one, or choose another device.');
  if (error.name === 'SecurityError')
    return refused(
      'Passkeys do not work at this address.',
      'Open the dashboard at the address that the operator of the service has set for it.',
    );
  // The browser does not tell "cancelled" from "there is none".
  return refused('No passkey was used.', 'Try again, or sign in with your password.');
};

/** @throws {Problem} this browser has no passkeys */
function requireSupport(): void {
  if (typeof window.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function') return;
  throw refused('This browser has no passkeys.', 'Use a newer browser, and the address of the dashboard with https.');
}

function jsonOf(credential: Credential | null): ReturnType<PublicKeyCredential['toJSON']> {
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw explained(new DOMException());
}

/** Asks the browser to make a passkey. */
export async function makePasskey(options: Schemas['PasskeyCreation']): Promise<Registration> {
  requireSupport();
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await navigator.credentials.create({ publicKey }).catch((error: unknown) => {
    throw explained(error);
  });
  const { id, response } = jsonOf(made);
  if (!('attestationObject' in response)) throw explained(new DOMException());
  const { clientDataJSON, attestationObject, transports } = response;
  // A newer browser may know further ones.
  const known = transports.filter((each): each is Registration['transports'][number] => TRANSPORTS.has(each));
  return { id, clientData: clientDataJSON, attestationObject, transports: known };
}

const TRANSPORTS: ReadonlySet<string> = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);

/** Asks the browser for a passkey. */
async function usePasskey(options: Schemas['PasskeyRequest']): Promise<PasskeyAssertion> {
  requireSupport();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const used = await navigator.credentials.get({ publicKey }).catch((error: unknown) => {
    throw explained(error);
  });
  const { id, response } = jsonOf(used);
  if (!('signature' in response)) throw explained(new DOMException());
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  return {
    id,
    clientData: clientDataJSON,
    authenticatorData,
    signature,
    ...(typeof userHandle === 'string' && userHandle !== '' ? { userHandle } : {}),
  };
}

/** Signs in with a passkey alone. */
export async function signInByPasskey(): Promise<Schemas['SessionWithToken']> {
  requireSupport();
  const passkey = await usePasskey(await bodyOf(service.POST('/api/sessions/passkey/begin')));
  return bodyOf(service.POST('/api/sessions/passkey', { body: { passkey, cookie: true } }));
}

/** Answers the second step of a sign-in. */
export const passkeyOfStep = async (challenge: string): Promise<PasskeyAssertion> =>
  usePasskey(await bodyOf(service.POST('/api/sessions/second-factor/passkey', { body: { challenge } })));

/** Confirms a change of the own account. */
export const passkeyOfConfirmation = async (): Promise<PasskeyAssertion> =>
  usePasskey(await bodyOf(service.POST('/api/sessions/current/passkeys/confirmation')));
