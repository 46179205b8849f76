/** An API key, or the session of a signed-in person; what each may do is in the documentation of the operations. */
export type OrganizationCredential =
  | { readonly apiKey: string; readonly session?: never }
  | {
      readonly session: string;
      readonly apiKey?: never;
      /** Which organization, if the person is a member of several. */
      readonly organizationId?: string;
    };

/** The headers that carry a credential. */
export function credentialHeaders(credential: OrganizationCredential): Readonly<Record<string, string>> {
  if (credential.apiKey !== undefined) return { 'x-organization-key': credential.apiKey };
  const { session, organizationId } = credential;
  return {
    authorization: `Bearer ${session}`,
    ...(organizationId === undefined ? {} : { 'x-organization-id': organizationId }),
  };
}
