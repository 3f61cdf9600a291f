#!/bin/bash
#SBATCH --job-name=clearbands
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
#SBATCH --requeue
# A Dask cluster inside one SLURM job: sbatch slurm.sh. A job that is requeued goes on from the work
# folder, which lies, like the table, on a file system that all nodes share.
set -euo pipefail
shared="$PWD"
port=$((8000 + SLURM_JOB_ID % 1000))
address="tcp://$(hostname):$port"

# What Dask watches of itself takes from workers whose tasks occupy all of their cores.
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False
export DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL=2s
export DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL=5s

dask scheduler --port "$port" --no-dashboard &
scheduler=$!
srun dask worker "$address" --nthreads "$SLURM_CPUS_PER_TASK" --memory-limit 4GB --no-dashboard &
workers=$!
trap 'kill "$workers" "$scheduler"' EXIT

clearbands fit "$shared/houses" --target price --engine dask --scheduler "$address" \
  --work "$shared/houses.work" --out "$shared/houses.clear"
