import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { lengthViolations, violationsOf } from '../../../kernel/violations.ts'
import { acceptAvatar } from '../../namespaces/index.ts'
import { colorViolations } from './colors.ts'
import {
  type AppearanceRow,
  type AppearanceTexts,
  defaultTexts,
  findAppearance,
  lockAppearance,
  type PictureName,
  pictures,
  savePicture,
  saveTexts,
} from './queries.ts'

export type AppearanceChanges = { [K in keyof AppearanceTexts]?: AppearanceTexts[K] | null | undefined } & {
  [K in PictureName]?: UploadedFile | null | undefined
}

const maxTextLength = 65_536

/** Absent texts and pictures stay, null removes them, and those that are as they were leave no trace. */
export async function changeAppearance(
  ctx: Ctx,
  { logo, header_logo, favicon, ...given }: AppearanceChanges,
): Promise<AppearanceRow> {
  const texts: Partial<AppearanceTexts> = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value ?? '']])),
  )
  const violations = violationsOf(
    Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, textViolations(name, value)])),
  )
  if (violations) throw invalidFields(violations)
  const files = { logo, header_logo, favicon }
  const stored = await Promise.all(
    pictures.map(async (name) => [name, await acceptAvatar(ctx, files[name], name)] as const),
  )
  return ctx.transaction(async (tx) => {
    const held = await lockAppearance(tx)
    await tx.requirePermission?.()
    const changed = changedNames({ ...defaultTexts, ...held.texts }, texts)
    if (changed.length > 0) await saveTexts(tx, texts)
    for (const [name, picture] of stored)
      if (picture !== undefined && (await savePicture(tx, name, picture))) changed.push(name)
    if (changed.length > 0) await emit(tx, { kind: 'appearance_updated', actorId: ctx.actor!.id, payload: { changed } })
    return findAppearance(tx)
  })
}

function textViolations(name: string, value: unknown): string[] {
  if (typeof value !== 'string') return []
  if (name.endsWith('_color')) return colorViolations(value)
  return lengthViolations(value, maxTextLength)
}
