import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { PushOptions } from './parse.ts'

/** A push whose effects are committed. */
export type CompletedPush = {
  readonly id: number
  readonly projectId: number
  /** All valid options, including those that the caller may not use. */
  readonly options: PushOptions
  /** The refs that moved. */
  readonly changes: readonly RefChange[]
}

/** What the client that pushed is shown: sentences about what has no effect, and paragraphs of lines. */
export type PushAnswer = {
  readonly warnings: readonly string[]
  readonly notices: readonly (readonly string[])[]
}

/**
 * A source of lines that the client prints after a push over any transport. It may change things, as the options of the push say;
 * what it must not lose, it leaves to a job as well. `src/reactions.ts` lists all sources.
 */
export type AnswerToPush = (ctx: Ctx, push: CompletedPush) => Promise<PushAnswer>

const failed: PushAnswer = { warnings: ['An unknown error occurred'], notices: [] }

/** The answers of all sources, one source after the other. A source that fails is logged and has a warning. */
export async function collectAnswers(
  ctx: Ctx,
  sources: readonly AnswerToPush[],
  push: CompletedPush,
): Promise<readonly PushAnswer[]> {
  const answers: PushAnswer[] = []
  for (const source of sources)
    answers.push(
      await source(ctx, push).catch((error: unknown) => {
        ctx.log.error({ err: error, push_id: push.id }, 'failed to answer a push')
        return failed
      }),
    )
  return answers
}

/** The lines for the client: warnings in one block, then the notices. */
export function linesOf(answers: readonly PushAnswer[]): string[] {
  const warnings = [...new Set(answers.flatMap((answer) => answer.warnings))]
  const notices = answers.flatMap((answer) => answer.notices)
  const blocks = [...(warnings.length > 0 ? [['WARNINGS:', ...warnings]] : []), ...notices]
  return blocks.length === 0 ? [] : ['', ...blocks.flatMap((block) => [...block, ''])]
}
