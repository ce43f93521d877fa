import {
  addressList,
  certificate,
  domainName,
  keyOfCertificate,
  shortEntries,
  thousandths,
  webAddress,
} from './rules.ts'
import { count, decimal, flag, ids, secret, text, words } from './schema.ts'

const spam = { without: 'a spam filter' }
const cluster = { without: 'clusters' }
const index = {
  without: 'an external search engine; search always uses the database and Git',
}
const figures = { without: 'a metrics sender; metrics are at /-/metrics' }
const dashboard = { without: 'a dashboard' }
const diagrams = { without: 'diagram rendering' }
const captcha = { without: 'captchas' }
const chat = { without: 'a chat application' }
const tracking = { without: 'event tracking' }
const intelligence = { without: 'code pages' }
const sites = { without: 'project sites' }
const replicas = { without: 'replicas' }
const elsewhere = { without: 'external authorization' }
const errors = { without: 'an error collector' }
const files = { without: 'external storage of static objects' }
const runners = { without: 'pipeline runners' }
const nothingToldHome = { without: 'usage reporting' }

const searchIndex = { tier: 'premium', ...index } as const

/** Integrations with external services. */
export const integrations = {
  spam_filter_enabled: flag(false, 'Check texts with a spam filter', {
    alias: 'akismet_enabled',
    sentWith: ['spam_filter_api_key'],
    needs: ['spam_filter_api_key'],
    ...spam,
    guards: 'there',
  }),
  spam_filter_api_key: secret('API key of the spam filter', { alias: 'akismet_api_key', longest: 255, ...spam }),

  asset_proxy_enabled: flag(false, 'Fetch external images through an asset proxy (after a restart)', {
    sentWith: ['asset_proxy_url'],
    needs: ['asset_proxy_url'],
  }),
  asset_proxy_url: text('URL of the asset proxy (after a restart)', { rules: [webAddress] }),
  asset_proxy_secret_key: secret('Secret shared with the asset proxy (after a restart)', {
    hidden: true,
    longest: 255,
  }),
  asset_proxy_whitelist: words(
    'Domains whose images are not proxied, including the domain of the instance (after a restart)',
    { alias: 'asset_proxy_allowlist', rules: [shortEntries] },
  ),

  auto_devops_domain: text('Base domain of deployments', { rules: [domainName], ...runners }),
  shared_runners_minutes: count(0, 'Maximum pipeline minutes of a group per month; 0 for no limit', {
    tier: 'premium',
    ...runners,
    guards: 'missing',
  }),
  check_namespace_plan: flag(false, 'Decide features of a group by its own plan', {
    tier: 'premium',
    without: 'plans per group',
    guards: 'there',
  }),

  managed_cluster_integration_enabled: flag(false, 'Enable the integration with managed clusters', {
    alias: 'eks_integration_enabled',
    ...cluster,
  }),
  managed_cluster_account_id: text('Account ID for managed clusters', { alias: 'eks_account_id', ...cluster }),
  managed_cluster_access_key_id: text('Access key ID for managed clusters', { alias: 'eks_access_key_id', ...cluster }),
  managed_cluster_secret_access_key: secret('Secret access key for managed clusters', {
    alias: 'eks_secret_access_key',
    hidden: true,
    longest: 255,
    ...cluster,
  }),

  search_engine_search: flag(false, 'Search with an external search engine', {
    alias: 'elasticsearch_search',
    ...searchIndex,
  }),
  search_engine_indexing: flag(false, 'Index changes in the search engine', {
    alias: 'elasticsearch_indexing',
    ...searchIndex,
  }),
  search_engine_limit_indexing: flag(false, 'Limit indexing to some groups and projects', {
    alias: 'elasticsearch_limit_indexing',
    ...searchIndex,
    guards: 'missing',
  }),
  search_engine_namespace_ids: ids('IDs of the indexed groups if indexing is limited', {
    alias: 'elasticsearch_namespace_ids',
    ...searchIndex,
    guards: 'missing',
  }),
  search_engine_project_ids: ids('IDs of the indexed projects if indexing is limited', {
    alias: 'elasticsearch_project_ids',
    ...searchIndex,
    guards: 'missing',
  }),
  search_engine_url: secret('URLs of the search engine, separated by commas; may contain credentials', {
    alias: 'elasticsearch_url',
    ...searchIndex,
  }),
  search_engine_cloud: flag(false, 'The search engine is a managed cloud service', {
    alias: 'elasticsearch_aws',
    ...searchIndex,
  }),
  search_engine_cloud_region: text('Cloud region of the search engine', {
    alias: 'elasticsearch_aws_region',
    value: 'us-east-1',
    ...searchIndex,
  }),
  search_engine_cloud_access_key: text('Access key ID of the search engine', {
    alias: 'elasticsearch_aws_access_key',
    ...searchIndex,
  }),
  search_engine_cloud_secret_access_key: secret('Secret access key of the search engine', {
    alias: 'elasticsearch_aws_secret_access_key',
    longest: 255,
    ...searchIndex,
  }),

  metrics_enabled: flag(false, 'Send metrics to a metrics database', {
    sentWith: [
      'metrics_host',
      'metrics_method_call_threshold',
      'metrics_packet_size',
      'metrics_pool_size',
      'metrics_port',
      'metrics_sample_interval',
      'metrics_timeout',
    ],
    ...figures,
  }),
  metrics_host: text('Host of the metrics database', { value: 'localhost', ...figures }),
  metrics_port: count(8089, 'UDP port of the metrics database', { maximum: 65_535, ...figures }),
  metrics_pool_size: count(16, 'Connections to the metrics database', figures),
  metrics_timeout: count(10, 'Timeout of the metrics database in seconds', figures),
  metrics_packet_size: count(1, 'Metrics per packet', figures),
  metrics_sample_interval: count(15, 'Sample interval in seconds', figures),
  metrics_method_call_threshold: count(10, 'Minimum duration of a measured method call in milliseconds', figures),
  monitoring_metrics_enabled: flag(true, 'Serve process metrics at /-/metrics', {
    alias: 'prometheus_metrics_enabled',
  }),
  dashboard_enabled: flag(false, 'Link a dashboard', { alias: 'grafana_enabled', ...dashboard }),
  dashboard_url: text('URL of the dashboard', { alias: 'grafana_url', value: '/-/dashboard', ...dashboard }),

  diagram_enabled: flag(false, 'Render diagrams in Markdown', {
    alias: 'plantuml_enabled',
    sentWith: ['diagram_url'],
    needs: ['diagram_url'],
    ...diagrams,
  }),
  diagram_url: text('URL of the diagram renderer', { alias: 'plantuml_url', ...diagrams }),

  captcha_enabled: flag(false, 'Require a captcha on sign-up', {
    alias: 'recaptcha_enabled',
    sentWith: ['captcha_private_key', 'captcha_site_key'],
    needs: ['captcha_private_key', 'captcha_site_key'],
    ...captcha,
    guards: 'there',
  }),
  captcha_private_key: secret('Private key of the captcha service', {
    alias: 'recaptcha_private_key',
    longest: 255,
    ...captcha,
  }),
  captcha_site_key: text('Public key of the captcha service', { alias: 'recaptcha_site_key', ...captcha }),
  login_captcha_protection_enabled: flag(false, 'Require a captcha on sign-in as well', {
    alias: 'login_recaptcha_protection_enabled',
    ...captcha,
    guards: 'there',
  }),

  chat_app_enabled: flag(false, 'Enable the chat application', {
    alias: 'slack_app_enabled',
    tier: 'premium',
    sentWith: ['chat_app_id', 'chat_app_secret', 'chat_app_verification_token'],
    needs: ['chat_app_id', 'chat_app_secret', 'chat_app_verification_token'],
    ...chat,
  }),
  chat_app_id: text('ID of this instance in the chat application', { alias: 'slack_app_id', tier: 'premium', ...chat }),
  chat_app_secret: secret('Secret of this instance in the chat application', {
    alias: 'slack_app_secret',
    longest: 255,
    tier: 'premium',
    ...chat,
  }),
  chat_app_verification_token: secret('Verification token of the chat application', {
    alias: 'slack_app_verification_token',
    longest: 255,
    tier: 'premium',
    ...chat,
  }),

  event_tracking_enabled: flag(false, 'Enable event tracking', {
    alias: 'snowplow_enabled',
    sentWith: ['event_tracking_collector_hostname'],
    needs: ['event_tracking_collector_hostname'],
    ...tracking,
  }),
  event_tracking_collector_hostname: text('Host of the event collector', {
    alias: 'snowplow_collector_hostname',
    ...tracking,
  }),
  event_tracking_cookie_domain: text('Cookie domain of event tracking', {
    alias: 'snowplow_cookie_domain',
    ...tracking,
  }),
  event_tracking_app_id: text('ID of this instance in event tracking', { alias: 'snowplow_app_id', ...tracking }),
  event_tracking_iglu_registry_url: text('URL of the schema registry of event tracking', {
    alias: 'snowplow_iglu_registry_url',
    rules: [webAddress],
    ...tracking,
  }),
  usage_ping_enabled: flag(true, 'Send usage statistics to the vendor', nothingToldHome),
  version_check_enabled: flag(true, 'Check for new versions', nothingToldHome),
  pseudonymizer_enabled: flag(false, 'Export pseudonymized tables', {
    tier: 'premium',
    without: 'table exports',
    guards: 'missing',
  }),

  code_intelligence_enabled: flag(false, 'Enable code intelligence on code pages', {
    alias: 'sourcegraph_enabled',
    sentWith: ['code_intelligence_url'],
    needs: ['code_intelligence_url'],
    ...intelligence,
  }),
  code_intelligence_url: text('URL of the code intelligence service', {
    alias: 'sourcegraph_url',
    rules: [webAddress],
    ...intelligence,
  }),
  code_intelligence_public_only: flag(true, 'Limit code intelligence to public projects', {
    alias: 'sourcegraph_public_only',
    ...intelligence,
    guards: 'missing',
  }),

  pages_domain_verification_enabled: flag(true, 'Require verification of domains of project sites', {
    ...sites,
    guards: 'missing',
  }),
  lets_encrypt_notification_email: text('Email address for notices about certificates', sites),
  lets_encrypt_terms_of_service_accepted: flag(false, 'Accept the terms of the certificate service', sites),

  replica_node_allowed_ips: text('IP ranges from which replicas may connect', {
    alias: 'geo_node_allowed_ips',
    value: '0.0.0.0/0, ::/0',
    tier: 'premium',
    rules: [addressList],
    ...replicas,
    guards: 'missing',
  }),
  replica_status_timeout: count(10, 'Timeout of a replica status check in seconds', {
    alias: 'geo_status_timeout',
    exclusiveMinimum: 0,
    tier: 'premium',
    ...replicas,
  }),

  external_authorization_service_enabled: flag(false, 'Ask an external authorization service who may access projects', {
    needs: [
      'external_authorization_service_default_label',
      'external_authorization_service_timeout',
      'external_authorization_service_url',
    ],
    ...elsewhere,
    guards: 'there',
  }),
  external_authorization_service_default_label: text('Default classification label of projects', elsewhere),
  external_authorization_service_timeout: decimal(
    0.5,
    'Timeout of external authorization in seconds; a timeout denies access',
    {
      exclusiveMinimum: 0,
      maximum: 10,
      rules: [thousandths],
      ...elsewhere,
    },
  ),
  external_authorization_service_url: text('URL of the external authorization service', {
    rules: [webAddress],
    ...elsewhere,
  }),
  external_auth_client_cert: text('Client certificate (PEM) for the external authorization service', {
    longest: 65_536,
    needs: ['external_auth_client_key'],
    rules: [certificate],
    ...elsewhere,
  }),
  external_auth_client_key: secret('Private key of the client certificate (PEM)', {
    rules: [keyOfCertificate],
    ...elsewhere,
  }),
  external_auth_client_key_pass: secret('Passphrase of the private key', { longest: 255, ...elsewhere }),

  sentry_enabled: flag(false, 'Send errors to an error collector', { needs: ['sentry_dsn'], ...errors }),
  sentry_dsn: text('DSN of the error collector', { rules: [webAddress], ...errors }),
  clientside_sentry_enabled: flag(false, 'Send browser errors to an error collector', {
    needs: ['clientside_sentry_dsn'],
    ...errors,
  }),
  clientside_sentry_dsn: text('DSN for browser errors', { rules: [webAddress], ...errors }),

  static_objects_external_storage_url: text('URL of the external storage of static objects', {
    rules: [webAddress],
    ...files,
  }),
  static_objects_external_storage_auth_token: secret('Token of the external storage of static objects', {
    hidden: true,
    longest: 255,
    ...files,
  }),
}
