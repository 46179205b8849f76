import type {
  ExecuteHost,
  Fields,
  HookHost,
  Item,
  NodeDescription,
  TriggerHost,
  WebhookAnswer,
  WebhookHost,
} from '../../n8n-interfaces.ts';
import { CREDENTIAL, isMailboxToken, mailboxChoices, ServiceError } from '../../service.ts';
import {
  adjustEndpoint,
  deleteEndpoint,
  findEndpoint,
  hasScope,
  keepRegistration,
  keyOf,
  knowsSecret,
  newSecret,
  registerEndpoint,
  registrationOf,
  renewUnknownSecret,
  requireApiKey,
  wantedOf,
} from './endpoint.ts';
import { hasStarted, isSigned, noteStarted } from './received-events.ts';
import { watchEndpoint } from './watch-endpoint.ts';

/** Answers that repeat themselves: no reason to forget an endpoint. */
const isTemporary = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error.status >= 500 || error.status === 429;

/** Starts a workflow by signed webhooks of the service. `watch-endpoint.ts` says why it does not die unnoticed. */
export class AgentMailboxTrigger {
  description: NodeDescription = {
    displayName: 'Agent Mailbox Trigger',
    name: 'agentMailboxTrigger',
    icon: { light: 'file:../../icons/agentMailbox.svg', dark: 'file:../../icons/agentMailbox.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["eventTypes"].join(", ")}}',
    description: 'Starts the workflow when mail arrives, is sent, or waits for approval',
    defaults: { name: 'Agent Mailbox Trigger' },
    inputs: [],
    outputs: ['main'],
    polling: true,
    credentials: [{ name: CREDENTIAL, required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Events',
        name: 'eventTypes',
        type: 'multiOptions',
        options: [
          { name: 'Mail Arrived', value: 'email_received' },
          { name: 'Mail Bounced', value: 'email_bounced' },
          { name: 'Mail Was Blocked', value: 'email_blocked' },
          { name: 'Mail Was Delivered', value: 'email_delivered' },
          { name: 'Mail Was Reported as Unwanted', value: 'email_complained' },
          { name: 'Mail Was Sent', value: 'email_sent' },
          { name: 'Mailbox Was Created', value: 'mailbox_created' },
          { name: 'Mailbox Was Deleted', value: 'mailbox_deleted' },
          { name: 'Message Waits for Approval', value: 'outbound_consent_requested' },
          { name: 'Message Was Approved', value: 'outbound_consent_approved' },
          { name: 'Message Was Denied', value: 'outbound_consent_denied' },
        ],
        default: ['email_received'],
        required: true,
      },
      {
        displayName: 'Mailbox Name or ID',
        name: 'mailboxId',
        type: 'options',
        typeOptions: { loadOptionsMethod: 'getMailboxes' },
        default: '',
        description:
          'Events of this mailbox only; without one those of the whole organization. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: 'Include Codes and Links',
        name: 'includeExtracts',
        type: 'boolean',
        default: false,
        description:
          'Whether an event about mail has its one-time code and links. Everybody who may read the executions can then use them.',
      },
    ],
  };

  methods = {
    loadOptions: {
      async getMailboxes(this: TriggerHost) {
        return [{ name: 'All', value: '' }, ...(await mailboxChoices(this))];
      },
    },
  };

  webhookMethods = {
    default: {
      /** Whether the service has the endpoint. Its address and events are corrected, and the poll that follows activates it. */
      async checkExists(this: HookHost): Promise<boolean> {
        await requireApiKey(this);
        const [wanted, registration] = [wantedOf(this), registrationOf(this)];
        try {
          const endpoint = await findEndpoint(this, registration.endpointId);
          if (endpoint === undefined || !hasScope(endpoint, wanted) || !knowsSecret(endpoint, registration))
            return false;
          const url = this.getNodeWebhookUrl('default') ?? '';
          await adjustEndpoint(this, endpoint, wanted, url);
          keepRegistration(this, { ...registration, url });
          return true;
        } catch (error) {
          // After an error n8n would delete the endpoint, with all deliveries that wait. The next poll asks again.
          if (registration.secret !== '' && isTemporary(error)) return true;
          throw error;
        }
      },

      async create(this: HookHost): Promise<boolean> {
        await registerEndpoint(this);
        return true;
      },

      async delete(this: HookHost): Promise<boolean> {
        const { endpointId } = registrationOf(this);
        // n8n deletes also what could not be registered: such an error would hide the first one.
        if (endpointId === '' && (await isMailboxToken(this))) return true;
        const endpoint = await findEndpoint(this, endpointId);
        // A test that could not begin has no endpoint; what is found then is that of the active workflow.
        const isOurs = endpoint?.['id'] === endpointId || endpoint?.['url'] === this.getNodeWebhookUrl('default');
        if (endpoint !== undefined && isOurs) await deleteEndpoint(this, endpoint);
        keepRegistration(this, undefined);
        return true;
      },
    },
  };

  async webhook(this: WebhookHost): Promise<WebhookAnswer> {
    const request = this.getRequestObject();
    if (request.rawBody === undefined) await request.readRawBody?.();
    const { rawBody = Buffer.alloc(0) } = request;
    const headers = this.getHeaderData();
    const secrets = [registrationOf(this).secret, newSecret(keyOf(this))].filter(Boolean);
    if (!secrets.some((secret) => isSigned(headers, rawBody, secret))) {
      await renewUnknownSecret(this).catch((error: unknown) =>
        this.logger.warn(`Agent Mailbox: the service could not be asked about its endpoint: ${String(error)}`),
      );
      this.getResponseObject().status(401).json({ error: 'not signed with the secret of this endpoint' });
      return { noWebhookResponse: true };
    }
    const event = JSON.parse(rawBody.toString()) as Fields;
    // Acknowledged, and no more.
    if (hasStarted(keyOf(this), event['id'])) return { webhookResponse: { received: true } };
    return { webhookResponse: { received: true }, workflowData: [[{ json: event }]] };
  }

  async poll(this: TriggerHost): Promise<Item[][] | null> {
    const missed = await watchEndpoint(this);
    return missed.length === 0 ? null : [missed.map((json) => ({ json }))];
  }

  /** Passes on what started the workflow. Without it a test in the editor would poll instead of using the event. */
  async execute(this: TriggerHost & Pick<ExecuteHost, 'getInputData'>): Promise<Item[][]> {
    const items = this.getInputData();
    for (const { json } of items) noteStarted(keyOf(this), json['id']);
    return [items];
  }
}
