//! Kubernetes objects: a bus, and agents as an indexed job.
//!
//! They are written as JSON, which `kubectl apply -f -` and Kustomize read as they read YAML.

use serde_json::{Value, json};
use weir_agent::bus::{CONDUCTOR, Folder, JoinFile};

use crate::cli::ManifestArguments;
use crate::{Outcome, output};

/// Where the bus listens in the cluster.
const PORT: u16 = 4222;
/// Folder of the keys in a pod.
const KEYS: &str = "/etc/weir";

pub(super) fn print(arguments: &ManifestArguments) -> anyhow::Result<Outcome> {
    output::line(serde_json::to_string_pretty(&list(arguments)?)?)?;
    Ok(Outcome::Done)
}

fn list(arguments: &ManifestArguments) -> anyhow::Result<Value> {
    let folder = Folder::at(arguments.dir.as_deref());
    let address = format!("weir-bus.{}.svc:{PORT}", arguments.namespace);
    let numbers = 0..arguments.count;
    let names: Vec<_> = numbers.map(|index| format!("agent-{index}")).collect();
    folder.write(&address, &names, ("0.0.0.0", PORT), KEYS)?;
    let objects = [
        secret(arguments, &folder, &names)?,
        bus(arguments),
        service(arguments),
        agents(arguments),
        network_policy(arguments),
    ];
    Ok(json!({ "apiVersion": "v1", "kind": "List", "items": objects }))
}

fn metadata(arguments: &ManifestArguments, name: &str) -> Value {
    json!({
        "name": name,
        "namespace": arguments.namespace,
        "labels": { "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "weir" },
    })
}

/// Keys, certificate and configuration.
fn secret(
    arguments: &ManifestArguments,
    folder: &Folder,
    agents: &[String],
) -> anyhow::Result<Value> {
    let mut data = serde_json::Map::new();
    for name in agents.iter().map(String::as_str).chain([CONDUCTOR]) {
        let join = JoinFile::read(&folder.join_file(name))?;
        data.insert(format!("{name}.join"), serde_json::to_string(&join)?.into());
    }
    for (name, text) in folder.server_files()? {
        data.insert(name.to_owned(), text.into());
    }
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(arguments, "weir-keys"),
        "type": "Opaque",
        "stringData": data,
    }))
}

/// Mode of files in a pod: for their owner alone.
const PRIVATE: u32 = 0o400;

fn keys() -> (Value, Value) {
    let volume =
        json!({ "name": "keys", "secret": { "secretName": "weir-keys", "defaultMode": PRIVATE } });
    let mount = json!({ "name": "keys", "mountPath": KEYS, "readOnly": true });
    (volume, mount)
}

fn bus(arguments: &ManifestArguments) -> Value {
    let (volume, mount) = keys();
    let labels = json!({ "app.kubernetes.io/name": "weir-bus" });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(arguments, "weir-bus"),
        "spec": {
            "replicas": 1,
            "strategy": { "type": "Recreate" },
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "containers": [{
                        "name": "nats-server",
                        "image": arguments.image,
                        "command": ["nats-server", "--config", format!("{KEYS}/nats-server.conf")],
                        "ports": [{ "containerPort": PORT, "name": "nats" }],
                        "readinessProbe": { "tcpSocket": { "port": PORT } },
                        "volumeMounts": [mount, { "name": "store", "mountPath": "/var/lib/weir" }],
                    }],
                    "volumes": [volume, { "name": "store", "emptyDir": {} }],
                },
            },
        },
    })
}

fn service(arguments: &ManifestArguments) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(arguments, "weir-bus"),
        "spec": {
            "selector": { "app.kubernetes.io/name": "weir-bus" },
            "ports": [{ "name": "nats", "port": PORT, "targetPort": PORT }],
        },
    })
}

/// One agent on each node; an agent that fails is not started again within a run.
fn agents(arguments: &ManifestArguments) -> Value {
    let (volume, mount) = keys();
    let cpus = arguments.cpus.to_string();
    let resources = json!({ "cpu": cpus, "memory": "2Gi" });
    let labels = json!({ "app.kubernetes.io/name": "weir-agents" });
    let command = format!("exec weir agent --join {KEYS}/agent-${{JOB_COMPLETION_INDEX}}.join");
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(arguments, "weir-agents"),
        "spec": {
            "completionMode": "Indexed",
            "completions": arguments.count,
            "parallelism": arguments.count,
            "backoffLimit": 0,
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "restartPolicy": "Never",
                    "topologySpreadConstraints": [{
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": { "matchLabels": labels },
                    }],
                    "containers": [{
                        "name": "agent",
                        "image": arguments.image,
                        "command": ["sh", "-c", command],
                        "resources": { "requests": resources, "limits": resources },
                        "volumeMounts": [mount],
                    }],
                    "volumes": [volume],
                },
            },
        },
    })
}

/// Only agents and pods of the same part reach the bus.
fn network_policy(arguments: &ManifestArguments) -> Value {
    let from = |name: &str| json!({ "podSelector": { "matchLabels": { "app.kubernetes.io/name": name } } });
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(arguments, "weir-bus"),
        "spec": {
            "podSelector": { "matchLabels": { "app.kubernetes.io/name": "weir-bus" } },
            "policyTypes": ["Ingress"],
            "ingress": [{
                "from": [from("weir-agents"), from("weir-conductor")],
                "ports": [{ "protocol": "TCP", "port": PORT }],
            }],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_refer_to_each_other_and_hold_a_key_for_each_agent() {
        let parent = tempfile::tempdir().unwrap();
        let arguments = ManifestArguments {
            count: 3,
            image: "registry.example/weir:1".to_owned(),
            cpus: 4,
            namespace: "load".to_owned(),
            dir: Some(parent.path().join("keys")),
        };
        let list = list(&arguments).unwrap();
        let of_kind = |kind: &str| {
            let mut items = list["items"].as_array().unwrap().iter();
            items.find(|item| item["kind"] == kind).unwrap()
        };
        for item in list["items"].as_array().unwrap() {
            assert_eq!(item["metadata"]["namespace"], "load");
        }
        let (secret, job, bus) = (of_kind("Secret"), of_kind("Job"), of_kind("Deployment"));
        for index in 0..3 {
            let text = secret["stringData"][format!("agent-{index}.join")]
                .as_str()
                .unwrap();
            let join = JoinFile::of_text(text, std::path::Path::new("-")).unwrap();
            assert_eq!(join.address, "weir-bus.load.svc:4222");
        }
        let configuration = secret["stringData"]["nats-server.conf"].as_str().unwrap();
        assert!(
            configuration.contains("/etc/weir/key.pem") && configuration.contains("/var/lib/weir")
        );
        assert_eq!(
            (&job["spec"]["completions"], &job["spec"]["parallelism"]),
            (&json!(3), &json!(3))
        );
        let pod = &job["spec"]["template"]["spec"];
        let resources = &pod["containers"][0]["resources"];
        assert_eq!(resources["requests"], resources["limits"]);
        assert_eq!(resources["limits"]["cpu"], "4");
        for spec in [pod, &bus["spec"]["template"]["spec"]] {
            assert_eq!(
                spec["volumes"][0]["secret"]["secretName"],
                secret["metadata"]["name"]
            );
        }
        let labels = &bus["spec"]["template"]["metadata"]["labels"];
        assert_eq!(&bus["spec"]["selector"]["matchLabels"], labels);
        assert_eq!(&of_kind("Service")["spec"]["selector"], labels);
        assert_eq!(
            &of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
            labels
        );
    }
}
