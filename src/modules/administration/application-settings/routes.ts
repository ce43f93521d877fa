import { endpoint } from '../../../api/endpoint.ts'
import { storedSettings } from '../../../settings/queries.ts'
import { instance } from '../../instance/index.ts'
import { ApplicationSettings } from './entity.ts'
import { settingParams } from './params.ts'
import { changeSettings } from './service.ts'

export const applicationSettingRoutes = [
  endpoint({
    method: 'GET',
    path: '/application/settings',
    summary: 'Settings of the installation',
    subject: instance,
    allow: 'administer',
    returns: ApplicationSettings,
    handle: ({ ctx }) => storedSettings(ctx.db),
  }),

  endpoint({
    method: 'PUT',
    path: '/application/settings',
    summary: 'Change settings of the installation; those that are not named stay',
    subject: instance,
    allow: 'administer',
    params: settingParams,
    returns: ApplicationSettings,
    handle: ({ params, ctx }) => changeSettings(ctx, params),
  }),
]
