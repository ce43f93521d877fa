import { endpoint, listed } from '../../../api/endpoint.ts'
import { Id, List, Optional, Params, Text } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { Suggestion, suggestionRecords } from '../../discussion/index.ts'
import { instance } from '../../instance/index.ts'
import { applyBatch, applySuggestions } from './service.ts'
import { suggestion } from './subject.ts'

const commit_message = Optional(
  Text({
    description:
      'Message of the commit, with the placeholders of `suggestion_commit_message`; default: that of the project',
  }),
)

export const suggestionRoutes = [
  endpoint({
    method: 'PUT',
    path: '/suggestions/:id/apply',
    summary: 'Apply a suggestion',
    description: 'Commits it on the source branch of its merge request, to which the caller must be allowed to push.',
    subject: suggestion,
    allow: 'apply_suggestion',
    params: Params({ commit_message }),
    returns: Suggestion,
    async handle({ subject, params, ctx }) {
      await applySuggestions(ctx, subject, params.commit_message)
      const [record] = await suggestionRecords(ctx.db, [subject.suggestions[0]!.id])
      // A change of its note has deleted it.
      if (!record) throw notFound('Suggestion')
      return record
    },
  }),

  endpoint({
    method: 'PUT',
    path: '/suggestions/batch_apply',
    summary: 'Apply several suggestions',
    description:
      'Commits suggestions of one merge request, which must not overlap, as one commit on its source branch.',
    subject: instance,
    allow: 'use',
    params: Params({
      ids: List(Id(), { blank: false, maxItems: 100, description: 'IDs of the suggestions' }),
      commit_message,
    }),
    returns: listed(Suggestion),
    async handle({ params, ctx }) {
      await applyBatch(ctx, params.ids, params.commit_message)
      return suggestionRecords(ctx.db, params.ids)
    },
  }),
]
