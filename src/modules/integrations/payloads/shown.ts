import type { Ctx } from '../../../api/ctx.ts'
import type {
  GroupBlockRow,
  IssueRow,
  LabelBlockRow,
  MergeRequestRow,
  NoteRow,
  PipelineRow,
  ProjectBlockRow,
  ReleaseRow,
  SnippetRow,
  StatusRow,
  UserBlockRow,
} from './queries.ts'

/** A recorded row, whose description or comment may have been cut. */
type Cut<Row> = Row & { readonly cut?: true }

/** Rows as they were when the event was recorded (`hook-events/shown-queries.ts`). */
export type Shown = {
  readonly project?: ProjectBlockRow | null
  readonly group?: GroupBlockRow | null
  readonly parent?: GroupBlockRow | null
  readonly users?: readonly Omit<UserBlockRow, 'email'>[]
  readonly labels?: readonly LabelBlockRow[]
  readonly issue?: Cut<IssueRow> | null
  readonly merge_request?: Cut<MergeRequestRow> | null
  readonly note?: Cut<NoteRow> | null
  readonly snippet?: Cut<SnippetRow> | null
  readonly pipeline?: PipelineRow | null
  readonly status?: StatusRow | null
  readonly release?: Cut<ReleaseRow> | null
  /** Names in hexadecimal. */
  readonly refs?: readonly { readonly ref: string; readonly old_oid: string | null; readonly new_oid: string | null }[]
}

/**
 * The context in which a payload is built. What the event is about is shown as it was; projects, groups, users and labels as they are now,
 * so that links lead there, or as they were if they are gone.
 */
export type PayloadCtx = Ctx & { readonly shown?: Shown }

/** Those found, and of the others those that are recorded. */
export function withGone<Row extends { readonly id: number }>(
  found: readonly Row[],
  ids: readonly number[],
  recorded: readonly Row[] = [],
): readonly Row[] {
  const missing = new Set(ids)
  for (const { id } of found) missing.delete(id)
  return missing.size === 0 ? found : [...found, ...recorded.filter(({ id }) => missing.has(id))]
}

/** The recorded row, or the one found if none was recorded. A text that was cut is that of the row found, as long as there is one. */
export async function asRecorded<Row extends object>(
  recorded: Cut<Row> | null | undefined,
  text: keyof Row,
  find: () => Promise<Row | undefined>,
): Promise<Row | undefined> {
  if (!recorded) return find()
  if (!recorded.cut) return recorded
  const { cut: _, ...row } = recorded
  const found = await find()
  return { ...(row as Row), ...(found && { [text]: found[text] }) }
}
