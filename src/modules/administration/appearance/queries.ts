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

/** What applies until it is changed. */
export const defaultTexts: AppearanceTexts = {
  title: '',
  description: '',
  new_project_guidelines: '',
  header_message: '',
  footer_message: '',
  message_background_color: '#e75e40',
  message_font_color: '#ffffff',
  email_header_and_footer_enabled: false,
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

/** The same, locked until the transaction ends. */
export const lockAppearance = async (tx: Tx): Promise<AppearanceRow> =>
  (await tx.row(appearanceRow, sql`select texts, logo, header_logo, favicon from appearance for no key update`))!

export const saveTexts = (tx: Tx, texts: Partial<AppearanceTexts>): Promise<number> =>
  tx.run(sql`update appearance set texts = texts || ${JSON.stringify(texts)}::jsonb, updated_at = now()`)

/** Null removes the picture. False if it is as it was. */
export const savePicture = async (
  tx: Tx,
  name: PictureName,
  picture: { filename: string; digest: Digest } | null,
): Promise<boolean> => {
  const { filename = null, digest = null } = picture ?? {}
  const [file, bytes] = [raw(name), raw(`${name}_digest`)]
  const saved = await tx.run(sql`
    update appearance
    set ${file} = ${filename}, ${bytes} = ${digest}, updated_at = now()
    where (${file}, ${bytes}) is distinct from (${filename}::text, ${digest}::text)
  `)
  return saved > 0
}

export const findPicture = (db: Db, name: PictureName, filename: string): Promise<{ digest: Digest } | undefined> =>
  db.row(
    { digest: notNull(textOf<Digest>()) },
    sql`select ${raw(`${name}_digest`)} as digest from appearance where ${raw(name)} = ${filename}`,
  )
