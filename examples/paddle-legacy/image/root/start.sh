#!/bin/sh
# The entry of the training image: what the environment says becomes a PServer and a trainer.
exec /muster/bin/muster-agent paddle-legacy "$@"
