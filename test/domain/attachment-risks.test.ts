import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AttachmentRisk, attachmentRisks } from '#domain/mail/attachment-risks.ts';
import { contentForm, hasMacros } from '#mime/attachments.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const PDF = bytes('%PDF-1.7\n');
const PNG = bytes('\x89PNG\r\n\x1a\n....');
const ZIP = bytes('PK\x03\x04\x14\0\0\0');
const OLE = bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1');
const EXE = bytes('MZ\x90\0\x03\0\0\0');
const OCTETS = 'application/octet-stream';
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const FILES: readonly (readonly [
  name: string | null,
  type: string,
  content: Buffer,
  risks: readonly AttachmentRisk[],
])[] = [
  ['invoice.pdf', 'application/pdf', PDF, []],
  ['Invoice.PDF', OCTETS, PDF, []],
  ['late mark.pdf', 'application/pdf', bytes('\n\n%PDF-1.4'), []],
  ['photo.png', 'image/png', PNG, []],
  ['report.docx', DOCX, ZIP, []],
  ['with password.docx', DOCX, OLE, []],
  ['letter.doc', 'application/msword', OLE, []],
  ['words.txt', 'text/plain', bytes('MZ is the beginning of a text that has no program in it, and of no other'), []],
  ['table.csv', 'text/csv', bytes('a,b\n1,2'), []],
  [null, 'text/calendar', bytes('BEGIN:VCALENDAR'), []],
  ['mail.eml', 'message/rfc822', bytes('From: a@b.example'), []],

  ['firmware.bin', OCTETS, bytes('\x01\x02\x03'), []],
  ['firmware.bin', OCTETS, EXE, ['program']],
  ['', OCTETS, bytes(''), []],
  ['empty.pdf', 'application/pdf', bytes(''), []],
  ['empty.docx', DOCX, bytes(''), []],
  ['empty.txt', 'text/plain', bytes(''), []],
  ['empty.zip', 'application/zip', bytes(''), ['archive']],
  ['empty.exe', OCTETS, bytes(''), ['program']],
  ['invoice.pdf.exe', OCTETS, bytes(''), ['program', 'double_extension']],
  ['blank.pdf', 'application/pdf', bytes(' '), ['type_mismatch']],

  ['setup.exe', OCTETS, EXE, ['program']],
  ['setup', OCTETS, EXE, ['program']],
  ['run.sh', 'text/plain', bytes('#!/bin/sh\n'), ['program', 'type_mismatch']],
  ['run.js', 'text/javascript', bytes('alert(1)'), ['program']],
  ['link.lnk', OCTETS, bytes('L\0\0\0\x01\x14\x02\0'), ['program']],
  ['code.jar', 'application/java-archive', ZIP, ['program', 'archive']],
  ['unix', OCTETS, bytes('\x7fELF\x02'), ['program']],

  ['plan.docm', OCTETS, ZIP, ['macros']],
  ['plan.docx', DOCX, bytes('PK\x03\x04....word/vbaProject.bin....'), ['macros']],
  ['old.xls', 'application/vnd.ms-excel', Buffer.concat([OLE, Buffer.from('_VBA_PROJECT', 'utf16le')]), ['macros']],
  ['m', 'application/vnd.ms-excel.sheet.macroEnabled.12', ZIP, ['macros', 'archive']],

  ['all.zip', 'application/zip', ZIP, ['archive']],
  ['all.7z', OCTETS, bytes('7z\xbc\xaf\x27\x1c'), ['archive']],
  ['all.tar.gz', 'application/gzip', bytes('\x1f\x8b\x08'), ['archive']],
  ['disk.iso', OCTETS, bytes(`${'\0'.repeat(32_769)}CD001`), ['archive']],
  ['hidden', OCTETS, ZIP, ['archive']],

  ['page.html', 'text/html', bytes('<!DOCTYPE html><title>x'), ['html']],
  ['page', OCTETS, bytes('\xef\xbb\xbf \n<!-- hello --> <script>1</script>'), ['html']],
  ['wide', OCTETS, Buffer.from('\ufeff<html>', 'utf16le'), ['html']],
  ['sheet.svg', 'image/svg+xml', bytes('<?xml version="1.0"?><svg xmlns="x"/>'), ['svg']],
  ['sheet.png', 'image/png', bytes('<svg xmlns="x"/>'), ['svg', 'type_mismatch']],

  ['invoice.pdf', 'application/pdf', bytes('<html><form>'), ['html', 'type_mismatch']],
  ['invoice.pdf', OCTETS, EXE, ['program', 'type_mismatch']],
  ['photo.jpg', 'image/jpeg', PNG, ['type_mismatch']],
  ['notes.txt', 'text/plain', PDF, ['type_mismatch']],
  ['photo.png', 'application/pdf', PNG, ['type_mismatch']],
  ['report.docx', DOCX, PDF, ['type_mismatch']],

  ['invoice.pdf.exe', OCTETS, EXE, ['program', 'double_extension']],
  ['invoice.pdf                .exe', OCTETS, EXE, ['program', 'double_extension']],
  ['invoice.pdf.exe. . ', OCTETS, EXE, ['program', 'double_extension']],
  ['photo.jpg.html', 'text/html', bytes('<html>'), ['html', 'double_extension']],
  ['table.csv.gz', 'application/gzip', bytes('\x1f\x8b\x08'), ['archive']],
  ['invoice\u202efdp.exe', OCTETS, EXE, ['program', 'text_direction']],
  ['a\u2066b.pdf', 'application/pdf', PDF, ['text_direction']],
  ['סיכום.pdf', 'application/pdf', PDF, []],
];

for (const [filename, contentType, content, risks] of FILES)
  test(`${filename ?? 'no name'} as ${contentType}, with ${contentForm(content) ?? 'other'} content`, () => {
    const form = contentForm(content);
    const facts = { filename, contentType, form, hasMacros: hasMacros(content, form) };
    assert.deepEqual(attachmentRisks(facts), risks);
  });

test('without content, the name and the type are labelled, and nothing is compared', () => {
  assert.deepEqual(attachmentRisks({ filename: 'a.pdf.exe', contentType: 'application/pdf' }), [
    'program',
    'double_extension',
  ]);
  assert.deepEqual(attachmentRisks({ filename: 'a.pdf', contentType: 'application/pdf' }), []);
});
