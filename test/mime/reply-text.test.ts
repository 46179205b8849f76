import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractReply } from '#mime/reply-text.ts';

const says = (text: string, expected: string) => assert.equal(extractReply(text), expected);

describe('the new part of a reply', () => {
  for (const [client, attribution] of Object.entries({
    English: 'On Mon, Jan 5, 2026 at 9:00\u202fAM Bot <bot@agents.test> wrote:',
    'English, folded': 'On Mon, 5 Jan 2026 at 09:00, A Person With a Long Name\n<person@example.com> wrote:',
    German: 'Am 05.01.26 um 09:00 schrieb Bot:',
    'German, folded': 'Am Mo., 5. Jan. 2026 um 09:00 Uhr schrieb Bot <\nbot@agents.test>:',
    French: 'Le lun. 5 janv. 2026 à 09:00, Bot <bot@agents.test> a écrit :',
    Spanish: 'El lun, 5 ene 2026 a las 9:00, Bot (<bot@agents.test>) escribió:',
    Italian: 'Il giorno lun 5 gen 2026 alle ore 09:00 Bot <bot@agents.test> ha scritto:',
    Dutch: 'Op ma 5 jan 2026 om 09:00 schreef Bot <bot@agents.test>:',
    Polish: 'pon., 5 sty 2026 o 09:00 Bot <bot@agents.test> napisał(a):'.replace('pon., ', 'W dniu '),
    Swedish: 'Den mån 5 jan. 2026 kl 09:00 skrev Bot <bot@agents.test>:',
    Chinese: '在 2026年1月5日,09:00,Bot <bot@agents.test> 写道：',
  }))
    it(`ends at the quote of a client in ${client}`, () =>
      says(`Yes, do it.\n\n${attribution}\n\n> Shall I?\n> Bot\n`, 'Yes, do it.'));

  it('ends at a whole mail below, marked by a line', () => {
    says('Done.\n\n-----Original Message-----\nFrom: Bot\nSent: Monday\nTo: Ann\nSubject: x\n\nold words\n', 'Done.');
    says('Fertig.\n\n-----Ursprüngliche Nachricht-----\nVon: Bot\n\nalt\n', 'Fertig.');
  });
  it('ends at the header that a desktop client puts above the old mail', () => {
    const old = 'From: Bot <bot@agents.test>\nSent: Monday, 5 January 2026 09:00\nTo: Ann\nSubject: x\n\nold words\n';
    says(`Done.\n\n${old}`, 'Done.');
    says(`Done.\n\n________________________________\n${old}`, 'Done.');
    says(`Erledigt.\n\nVon: Bot\nGesendet: Montag\nAn: Ann\nBetreff: x\n\nalt\n`, 'Erledigt.');
  });
  it('ends at an attribution over mail that is not marked as a quote', () =>
    says('Fine.\n\nOn Monday, Ann <a@b.c> wrote:\nold words\nmore\n', 'Fine.'));
  it('keeps answers between quotes', () =>
    says(
      'On Monday, Bot wrote:\n> First?\nYes.\n\n> Second?\n\nNo.\n-- \nAnn\n> third\nLater.\n',
      'Yes.\n\n\nNo.\nLater.',
    ));
  it('leaves out a signature at the end', () => {
    says('Words.\n\n-- \nAnn\nACME\n', 'Words.');
    says('Words.\n\nSent from my iPhone\n\n> quoted', 'Words.');
    says('Words.\n\nBest regards,\nAnn\n', 'Words.');
  });
  it('keeps text that only looks like an end', () => {
    const forward =
      'See below.\n\n---------- Forwarded message ---------\nFrom: Bob <b@x.y>\nDate: Monday\nSubject: s\n\nnotes';
    says(forward, forward);
    const rules = 'One\n\n---\n\nTwo\n\nFrom: here to there\nit is far\n\nOn Monday I wrote to him.\n';
    says(rules, rules.trim());
    const lists = `Cheers\n${'a line of words\n'.repeat(30)}`;
    says(lists, lists.trim());
  });
  it('is everything where nothing else is there', () => {
    says('> only a quote', '> only a quote');
    says('\n\n', '');
  });
  it('takes no time worth telling on text made to take long', () => {
    // Patterns across lines needed minutes for each of these; the run would end at its time limit.
    for (const unit of [
      '\n',
      ' \n',
      'On ',
      'On \n',
      'Op schreef\n',
      '在\n',
      '20.01.2026"<>',
      '~',
      '>x',
      '-',
      'Cheers\n',
    ])
      for (const tail of ['', 'x', ':'])
        assert.ok(extractReply(`a${unit.repeat(Math.ceil(65_536 / unit.length))}${tail}`).length > 0);
  });
});
