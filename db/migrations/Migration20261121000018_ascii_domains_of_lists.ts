import { domainToASCII } from 'node:url';
import { Migration } from '@mikro-orm/migrations';

/** Lists compare domains as DNS asks for them: what was entered with other letters before would match nothing. */
export class Migration20261121000018_ascii_domains_of_lists extends Migration {
  override async up(): Promise<void> {
    for (const [table, column, others] of LISTS) {
      const rows = await this.execute(
        `select id, ${column} as value from ${table} where octet_length(${column}) <> char_length(${column})`,
      );
      for (const row of rows) {
        const [id, value] = [String(row['id']), String(row['value'])];
        const at = value.lastIndexOf('@') + 1;
        const domain = domainToASCII(value.slice(at));
        const ascii = value.slice(0, at) + domain;
        if (domain === '' || ascii === value) continue;
        const same = `select from ${table} o where o.${column} = ? and ${others}`;
        await this.execute(`delete from ${table} t where t.id = ? and exists (${same})`, [id, ascii]);
        await this.execute(`update ${table} set ${column} = ? where id = ?`, [ascii, id]);
      }
    }
  }
}

/** Table, its column, and what makes another entry the same one. */
const LISTS = [
  [
    'sender_list',
    'value',
    'o.organization_id = t.organization_id and o.mailbox_id is not distinct from t.mailbox_id and o.direction = t.direction',
  ],
  ['suppression', 'address', 'o.organization_id = t.organization_id'],
] as const;
