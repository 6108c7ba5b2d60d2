// The configuration of the embedded cluster, written anew at every start.

/** The dependencies of the cluster's configuration. */
export interface ClusterPaths {
  /** The cluster itself (PGDATA), owned by the user that PostgreSQL runs as. */
  data: string;
  /** Directory of the Unix socket. */
  socket: string;
  /** Where these files are, owned by the supervisor, so that PostgreSQL cannot change its own walls. */
  config: string;
}

/** A hundred for tenants, and 7 for operators and for PostgreSQL itself. */
const sharedConnections = 107;
/** The further connections of each API process, for the control database and the work behind requests. */
const ownConnections = 9;

/** The load that the cluster is set up for. */
export interface ClusterUse {
  platform: string;
  /** How many processes there are that share its connections. */
  apiProcesses: number;
  /** True where data need not outlive a power cut. */
  isThrowaway?: boolean;
}

/** PostgreSQL takes the last of several lines of a setting. */
const throwawaySettings: readonly (readonly [string, string, string])[] = [
  ['fsync', 'off', 'nothing has to outlive a power cut'],
  ['full_page_writes', 'off', ''],
  ['synchronous_commit', 'off', ''],
  ['min_wal_size', '2MB', 'files are copied at every start'],
  ['autovacuum', 'off', 'it does not run for long'],
  ['dynamic_shared_memory_type', 'mmap', 'in the data directory, which is removed'],
];

/** `postgresql.conf`. */
export function postgresqlConf(
  paths: ClusterPaths,
  { platform, apiProcesses, isThrowaway = false }: ClusterUse,
): string {
  const maxConnections = sharedConnections + ownConnections * apiProcesses;
  const settings: readonly (readonly [string, string, string])[] = [
    ['data_directory', paths.data, 'this file is not inside it'],
    ['hba_file', `${paths.config}/pg_hba.conf`, ''],
    ['ident_file', `${paths.config}/pg_ident.conf`, ''],
    ['listen_addresses', '', 'nothing but the Unix socket'],
    ['unix_socket_directories', paths.socket, ''],
    ['max_connections', String(maxConnections), 'the API shares them out by permits'],
    ['max_locks_per_transaction', '256', 'enough for all to drop the app with most indexes'],
    ['shared_buffers', '128MB', 'mapped at once, resident only as far as it is used'],
    ['jit', 'off', 'statements are short'],
    ['max_parallel_workers_per_gather', '0', 'tenants share few cores, and containers have a small /dev/shm'],
    ['max_parallel_maintenance_workers', '0', ''],
    ['io_method', 'sync', 'no worker processes for databases that fit in memory'],
    ['max_wal_senders', '0', 'no replication'],
    ['max_replication_slots', '0', ''],
    ['max_logical_replication_workers', '0', ''],
    ['synchronous_commit', 'on', 'what was acknowledged is on disk'],
    ['full_page_writes', 'on', ''],
    [
      'recovery_init_sync_method',
      platform === 'linux' ? 'syncfs' : 'fsync',
      'one call, not one for each of the 300 files of every database',
    ],
    ['checkpoint_timeout', '2min', 'recovery after a crash has little to do'],
    [
      'autovacuum_naptime',
      '5min',
      'every database is visited once in this time, and there may be a thousand',
    ],
    ['temp_file_limit', '1GB', 'one tenant must not fill the disk'],
    ['password_encryption', 'scram-sha-256', ''],
    ['shared_preload_libraries', '', ''],
    ['timezone', 'UTC', ''],
    ['log_timezone', 'UTC', ''],
    ['lc_messages', 'C', ''],
    ['log_destination', 'stderr', 'the supervisor makes structured lines of it'],
    ['log_line_prefix', '%p ', ''],
    ['log_min_messages', 'log', 'the API reports the errors of statements'],
    ['log_min_error_statement', 'panic', 'a statement or a DETAIL could hold what tenants stored'],
    ['log_error_verbosity', 'terse', ''],
    ['log_checkpoints', 'off', ''],
    ...isThrowaway ? throwawaySettings : [],
  ];
  return `# Written by bulkhead at every start: changes are lost.\n${settings.map(settingLine).join('\n')}\n`;
}

function settingLine([name, value, why]: readonly [string, string, string]): string {
  return `${name} = ${quote(value)}${why === '' ? '' : `  # ${why}`}`;
}

/**
 * `pg_hba.conf`: the provisioner may open every database, each other role only the database of its own name or of the
 * role it is a member of, and the superuser none (https://www.postgresql.org/docs/18/auth-pg-hba-conf.html).
 */
export function pgHbaConf(): string {
  return [
    '# Written by bulkhead at every start: changes are lost.',
    'local all      postgres reject',
    'local all      bulkhead scram-sha-256',
    'local samerole all      scram-sha-256',
    'local all      all      reject',
    '',
  ].join('\n');
}

function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
