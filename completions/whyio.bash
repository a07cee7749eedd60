# SPDX-License-Identifier: Apache-2.0
# Completion of whyio for bash. Commands and options are asked of `whyio --help` and
# `whyio COMMAND --help`, so they cannot differ from it; only the values are listed here.

_whyio_commands()
{
    "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p'
}

_whyio_options()
{
    "$1" "$2" --help 2>/dev/null | grep -oE '^ +(-[a-zA-Z?], +)?--[a-z][a-z-]*=?' | grep -oE -- '--.*'
}

# The values of an option that has a fixed list of them.
_whyio_values()
{
    case $1 in
        --format)
            if [ "${COMP_WORDS[1]}" = jobstats ]; then
                echo "yaml json text prometheus"
            elif [ "${COMP_WORDS[1]}" = dump ]; then
                echo "text json csv"
            else
                echo "text json"
            fi
            ;;
        --sort) echo "time duration" ;;
        --edges) echo "later now" ;;
        --causal) echo "observe throttle off" ;;
        --static) echo "error trace" ;;
        --pattern) echo "disjoint random same opposite" ;;
        --method) echo "priority trace" ;;
        --keep) echo "first last" ;;
        --syntax) echo "sh csh slurm" ;;
        --compute) echo "think unblocked" ;;
        --mode) echo "causal think timed afap" ;;
        --cache) echo "auto drop keep" ;;
        --model) echo "kernel cawl naive" ;;
        --policy | --store-policy) echo "credit drr tbf mclock hint hint-heap fifo" ;;
        --tenants) echo "job uid client pool" ;;
        --log) echo "own sqlite" ;;
        --role) echo "all catalogue target" ;;
        --sync | --direct | --collective) echo "on off" ;;
    esac
}

# bash splits --option=value at the equals sign: sets `option` and `value` for the word at the cursor.
_whyio_split()
{
    option='' value=$1
    if [ "$1" = "=" ]; then
        option=$2 value=''
    elif [ "$2" = "=" ]; then
        option=$3
    elif [[ $1 == --*=* ]]; then
        option=${1%%=*} value=${1#*=}
    fi
}

# The command line to record: complete as if it stood alone.
_whyio_delegate()
{
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = "--" ]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset $((i + 1))
            else
                mapfile -t COMPREPLY < <(compgen -c -f -- "$1")
            fi
            return 0
        fi
    done
    return 1
}

_whyio()
{
    local word=${COMP_WORDS[COMP_CWORD]} option value
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_whyio_commands "$1") --help --version" -- "$word")
        return
    fi
    if [ "${COMP_WORDS[1]}" = record ] && _whyio_delegate "$word"; then
        return
    fi
    _whyio_split "$word" "${COMP_WORDS[COMP_CWORD - 1]}" "${COMP_WORDS[COMP_CWORD - 2]}"
    if [ -n "$option" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_whyio_values "$option")" -- "$value")
        if [ "${#COMPREPLY[@]}" -eq 0 ] && [ -z "$(_whyio_values "$option")" ]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$value")
        fi
        return
    fi
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_whyio_options "$1" "${COMP_WORDS[1]}")" -- "$word")
        if [[ ${COMPREPLY[*]} == *= ]]; then
            compopt -o nospace 2>/dev/null
        fi
        return
    fi
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

complete -F _whyio whyio
