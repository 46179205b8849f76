/** The examples of the tool packs against the service, with models that follow a script: no model is asked. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ApiError } from '@agent-mailbox/client';
import { mailboxTools, TOOL_DEFINITIONS } from '@agent-mailbox/tools';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { type Model, type ModelRequest, type ModelResponse, Usage } from '@openai/agents-core';
import { MockLanguageModelV4 } from 'ai/test';
import { pythonEnvironment, usualPython } from '#dev/build/python-environment.ts';
import { outdatedToolDefinitions } from '#dev/generate/tool-definitions.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { answerMail as withAiSdk } from '../../integrations/tools/examples/ai-sdk.ts';
import { answerMail as withLangChain } from '../../integrations/tools/examples/langchain.ts';
import { answerMail as withOpenAiAgents } from '../../integrations/tools/examples/openai-agents.ts';

let world: ApiWorld;
let mail: MailListeners;
before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub() });
});
after(async () => {
  await mail?.close();
  await world?.close();
});

const END = 'It waits for approval.';

/** What a model does next, by what it has seen. */
function nextStep(seen: string): { readonly tool: string; readonly input: object } | undefined {
  if (seen.includes('consentId')) return undefined;
  const messageId = /msg_[0-9a-z]{26}/.exec(seen)?.[0];
  if (messageId === undefined) return { tool: 'list_messages', input: { unread: true } };
  return { tool: 'reply_to_message', input: { messageId, text: 'It is noon.' } };
}

async function mailboxWithLetter(): Promise<TestMailbox & { readonly secret: string }> {
  const box = await world.newMailbox(world.organization);
  const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  assert.match(await client.send('bob@example.com', [box.address], letter('What time is it?')), /^250/);
  client.close();
  return { ...box, secret: box.token['authorization']?.replace('Bearer ', '') ?? '' };
}

/** The example answered the letter, and a person is asked. */
async function assertHeld(run: (url: string, token: string) => Promise<string>): Promise<void> {
  const box = await mailboxWithLetter();
  assert.equal(await run(world.api.url, box.secret), END);
  const { body } = await world.call('GET', `/api/consents?mailboxId=${box.id}`, { as: world.organization.key });
  assert.deepEqual([at(body, 'data', 'length'), textAt(body, 'data', 0, 'preview').trim()], [1, 'It is noon.']);
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

test('AI SDK', async () => {
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const step = nextStep(JSON.stringify(prompt));
      return {
        content:
          step === undefined
            ? [{ type: 'text', text: END }]
            : [{ type: 'tool-call', toolCallId: step.tool, toolName: step.tool, input: JSON.stringify(step.input) }],
        finishReason: { unified: step === undefined ? 'stop' : 'tool-calls', raw: undefined },
        usage: USAGE,
        warnings: [],
      };
    },
  });
  await assertHeld((url, token) => withAiSdk(model, url, token));
});

test('OpenAI Agents SDK', async () => {
  const model: Model = {
    async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
      const step = nextStep(JSON.stringify(input));
      const output: ModelResponse['output'] =
        step === undefined
          ? [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: END }] }]
          : [
              {
                type: 'function_call',
                callId: step.tool,
                name: step.tool,
                status: 'completed',
                arguments: JSON.stringify(step.input),
              },
            ];
      return { usage: new Usage(), output };
    },
    getStreamedResponse() {
      throw new Error('nothing is streamed');
    },
  };
  await assertHeld((url, token) => withOpenAiAgents(model, url, token));
});

test('LangChain', async () => {
  const next = (messages: BaseMessage[]): BaseMessage => {
    const step = nextStep(messages.map(({ text }) => text).join('\n'));
    if (step === undefined) return new AIMessage(END);
    return new AIMessage({ content: '', tool_calls: [{ name: step.tool, args: step.input, id: step.tool }] });
  };
  const model = fakeModel().respond(next).respond(next).respond(next);
  await assertHeld((url, token) => withLangChain(model, url, token));
});

test('LangChain in Python', async () => {
  const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements-tools');
  const folder = fileURLToPath(new URL('../../python', import.meta.url));
  await assertHeld(async (url, token) => {
    const env = {
      ...process.env,
      PYTHONPATH: `${folder}/src`,
      PYTHONDONTWRITEBYTECODE: '1',
      MAILBOX_URL: url,
      TOKEN: token,
    };
    const args = ['-m', 'tests.scripted_assistant'];
    return (await promisify(execFile)(interpreter, args, { cwd: folder, env, timeout: 120_000 })).stdout;
  });
});

test('the model reads a refusal; the program gets an error for a wrong token', async () => {
  const { secret: token } = await mailboxWithLetter();
  const tools = (options: object) => mailboxTools({ url: world.api.url, token, only: ['read_message'], ...options });
  const [read, ...others] = tools({});
  assert.deepEqual(others, []);
  assert.match(
    (await read?.run({ messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8' })) ?? '',
    /^not_found: .*\n[^]*What to do: /,
  );
  assert.match((await read?.run({})) ?? '', /messageId is required/);
  const isRefused = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code;
  await assert.rejects(async () => tools({ token: 'amt_x' })[0]?.run({}), isRefused('unauthenticated'));
  await assert.rejects(async () => tools({ url: 'http://127.0.0.1:1' })[0]?.run({}), isRefused('unreachable'));
});

test('the definitions are those of the MCP server: npm run generate', async () => {
  assert.deepEqual(await outdatedToolDefinitions(), []);
  assert.ok(TOOL_DEFINITIONS.length > 10 && TOOL_DEFINITIONS.some(({ readOnly }) => readOnly));
});
