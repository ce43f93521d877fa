import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { emit } from '../../../events/log.ts'
import { complaintsOf, tooLong } from '../../../kernel/complaints.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { acceptAvatar } from '../../namespaces/index.ts'
import { colorComplaints } from './colors.ts'
import {
  type AppearanceRow,
  type AppearanceTexts,
  findAppearance,
  type PictureName,
  pictures,
  savePicture,
  saveTexts,
} from './queries.ts'

export type AppearanceChanges = { [K in keyof AppearanceTexts]?: AppearanceTexts[K] | null | undefined } & {
  [K in PictureName]?: UploadedFile | null | undefined
}

const maxTextLength = 65_536

/** Absent texts and pictures stay; null removes them. */
export async function changeAppearance(
  ctx: Ctx,
  { logo, header_logo, favicon, ...given }: AppearanceChanges,
): Promise<AppearanceRow> {
  const texts: Partial<AppearanceTexts> = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value ?? '']])),
  )
  const complaints = complaintsOf(
    Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, textComplaints(name, value)])),
  )
  if (complaints) throw invalidFields(complaints)
  const files = { logo, header_logo, favicon }
  const stored = await Promise.all(
    pictures.map(async (name) => [name, await acceptAvatar(ctx, files[name], name)] as const),
  )
  return ctx.transaction(async (tx) => {
    await saveTexts(tx, texts)
    for (const [name, picture] of stored) if (picture !== undefined) await savePicture(tx, name, picture)
    const changed = [
      ...Object.keys(texts),
      ...stored.filter(([, picture]) => picture !== undefined).map(([name]) => name),
    ]
    await emit(tx, { kind: 'appearance_updated', actorId: ctx.actor!.id, payload: { changed } })
    return findAppearance(tx)
  })
}

function textComplaints(name: string, value: unknown): string[] {
  if (typeof value !== 'string') return []
  if (name.endsWith('_color')) return colorComplaints(value)
  return [...value].length > maxTextLength ? [tooLong(maxTextLength)] : []
}
