import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { json, notNull, nullable, type RowOf, text, textOf } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'

/** Texts that the installation shows. */
export type AppearanceTexts = {
  title: string
  description: string
  new_project_guidelines: string
  header_message: string
  footer_message: string
  message_background_color: string
  message_font_color: string
  email_header_and_footer_enabled: boolean
}

export const pictures = ['logo', 'header_logo', 'favicon'] as const
export type PictureName = (typeof pictures)[number]

export const appearanceRow = {
  texts: json<Partial<AppearanceTexts>>(),
  logo: nullable(text),
  header_logo: nullable(text),
  favicon: nullable(text),
} satisfies Record<PictureName | 'texts', unknown>
export type AppearanceRow = RowOf<typeof appearanceRow>

export const findAppearance = async (db: Db): Promise<AppearanceRow> =>
  (await db.row(appearanceRow, sql`select texts, logo, header_logo, favicon from appearance`))!

export const saveTexts = (tx: Tx, texts: Partial<AppearanceTexts>): Promise<number> =>
  tx.run(sql`update appearance set texts = texts || ${JSON.stringify(texts)}::jsonb, updated_at = now()`)

/** Null removes the picture. */
export const savePicture = (
  tx: Tx,
  name: PictureName,
  picture: { filename: string; digest: Digest } | null,
): Promise<number> =>
  tx.run(sql`
    update appearance
    set ${raw(name)} = ${picture?.filename ?? null}, ${raw(`${name}_digest`)} = ${picture?.digest ?? null},
      updated_at = now()
  `)

export const findPicture = (db: Db, name: PictureName, filename: string): Promise<{ digest: Digest } | undefined> =>
  db.row(
    { digest: notNull(textOf<Digest>()) },
    sql`select ${raw(`${name}_digest`)} as digest from appearance where ${raw(name)} = ${filename}`,
  )
