import type { Fields, HttpRequest, Icon, Property } from '../n8n-interfaces.ts';

/** Tokens of a mailbox begin so; keys of an organization do not. */
const IS_TOKEN = '$credentials.secret.trim().startsWith("amt_")';

export class AgentMailboxApi {
  name = 'agentMailboxApi';
  displayName = 'Agent Mailbox API';
  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-agent-mailbox';
  icon: Icon = { light: 'file:../icons/agentMailbox.svg', dark: 'file:../icons/agentMailbox.dark.svg' };
  properties: readonly Property[] = [
    {
      displayName: 'Address of the Service',
      name: 'url',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://mail.example.com',
      description: 'Without a path',
    },
    {
      displayName: 'API Key or Mailbox Token',
      name: 'secret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description:
        'A mailbox token (amt_…) opens one mailbox. An API key opens those of the organization, and the trigger needs one: with the scopes mailbox:read, mailbox:write, webhook:create, webhook:read and webhook:manage.',
    },
  ];
  test = {
    request: {
      baseURL: '={{$credentials.url.trim()}}',
      url: `={{${IS_TOKEN} ? "/api/mailbox" : "/api/mailboxes?limit=1"}}`,
    },
  };

  /** Adds the credential to a request. */
  authenticate = async (credentials: Fields, request: HttpRequest): Promise<HttpRequest> => {
    const secret = String(credentials['secret']).trim();
    const header: Record<string, string> = secret.startsWith('amt_')
      ? { authorization: `Bearer ${secret}` }
      : { 'x-organization-key': secret };
    return { ...request, headers: { ...request.headers, ...header } };
  };
}
